/** Native choices of an issue's properties: on every device what its people know. */

import { POINTS } from '../api/estimates.js'
import { PRIORITIES, type Priority, STATUSES, type Status } from '../store/model.js'
import { PRIORITY_WORDS, STATUS_WORDS } from '../store/words.js'
import type { Member } from '../store/workspaces.js'

interface ChoiceProps<Value> {
  readonly id?: string
  readonly label?: string
  readonly value: Value
  readonly disabled?: boolean
  readonly onChange: (value: Value) => void
}

interface WordChoiceProps<Value extends string> extends ChoiceProps<Value> {
  readonly words: Readonly<Record<Value, string>>
  readonly values: readonly Value[]
}

function WordChoice<Value extends string>({
  id,
  label,
  value,
  values,
  words,
  disabled,
  onChange,
}: WordChoiceProps<Value>) {
  return (
    <select
      id={id}
      aria-label={label}
      value={value}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value as Value)}
    >
      {values.map((one) => (
        <option key={one} value={one}>
          {words[one]}
        </option>
      ))}
    </select>
  )
}

export function StatusChoice(props: ChoiceProps<Status>) {
  return <WordChoice {...props} values={STATUSES} words={STATUS_WORDS} />
}

export function PriorityChoice(props: ChoiceProps<Priority>) {
  return <WordChoice {...props} values={PRIORITIES} words={PRIORITY_WORDS} />
}

interface AssigneeChoiceProps extends ChoiceProps<string | null> {
  readonly members: readonly Member[]
}

export function AssigneeChoice({
  id,
  label,
  value,
  members,
  disabled,
  onChange,
}: AssigneeChoiceProps) {
  return (
    <select
      id={id}
      aria-label={label}
      value={value ?? ''}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value || null)}
    >
      <option value="">Nobody</option>
      {members.map((member) => (
        <option key={member.id} value={member.id}>
          {member.name}
        </option>
      ))}
    </select>
  )
}

export function EstimateChoice({ id, value, disabled, onChange }: ChoiceProps<number | null>) {
  return (
    <select
      id={id}
      value={value ?? ''}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value ? Number(event.target.value) : null)}
    >
      <option value="">Not estimated</option>
      {POINTS.map((points) => (
        <option key={points} value={points}>
          {points === 1 ? '1 point' : `${points} points`}
        </option>
      ))}
    </select>
  )
}
