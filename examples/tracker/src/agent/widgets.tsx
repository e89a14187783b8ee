/**
 * Parts of the tracker that the agent can show in the chat. They get an id and no more, so that an
 * old one shows the issue as it is today.
 */

import { defineWidget } from '@remit/sdk/react'
import * as z from 'zod'
import { AssigneePickerCard } from '../parts/AssigneePickerCard.js'
import { IssueCard } from '../parts/IssueCard.js'

const parameters = z.object({
  id: z.string().describe('Id of the issue, such as WEB-12, as a tool answered it.'),
})

export const widgets = {
  issueCard: defineWidget({
    description:
      'Shows one issue as it is now, with a link to its page. Use it in place of repeating an ' +
      'issue in words, once for each; not for long lists: open /issues with filters instead.',
    parameters,
    render: ({ id }) => <IssueCard id={id} />,
  }),
  assigneePicker: defineWidget({
    description:
      'Lets the user pick who has an issue. Use it when they want to assign one and it is open ' +
      'to whom. They may pick at any time: read the issue before you go on.',
    parameters,
    render: ({ id }) => <AssigneePickerCard id={id} />,
  }),
}
