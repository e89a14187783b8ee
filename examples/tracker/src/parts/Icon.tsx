/** Drawn signs, 16 px; each stands beside words or a label, so that none is read out. */

const PATHS = {
  mark: 'M3 8.5 6.5 12 13 4',
  list: 'M2 4h12M2 8h12M2 12h8',
  board: 'M2.5 2.5h3v11h-3zM6.5 2.5h3v7h-3zM10.5 2.5h3v9h-3z',
  folder: 'M2 4.5h4l1.5 2H14v6.5H2z',
  talk: 'M2.5 3h11v8h-6L4 13.5V11H2.5z',
  plus: 'M8 3v10M3 8h10',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  back: 'M10 3 5 8l5 5',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5 14 14',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon-sign" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
