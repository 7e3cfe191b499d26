import { type Answer, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import { foreign, table } from '../shared/elements.ts'

/** Section of the operator's page: the latest lines of the audit log, which are changes and refused attempts. */
export function auditView(audit: Answer): HTMLElement {
  const rows = listOf(audit, 'lines').map((line) => [
    timeText(textOf(line, 'at')),
    foreign(textOf(line, 'actor')),
    foreign(textOf(line, 'action')),
    foreign(textOf(line, 'subject')),
    foreign(textOf(line, 'outcome')),
    foreign(JSON.stringify(memberOf(line, 'details'))),
  ])
  return table(
    'Last 50 lines',
    ['At', 'Who', 'Action', 'Subject', 'Outcome', 'Details'],
    rows,
    'No line yet.',
  )
}
