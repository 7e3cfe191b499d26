import { type Answer, ask, listOf, RefusedError, textOf, timeText } from './answers.ts'
import type { Chains } from './chains.ts'
import { type Child, copyable, element, factList, foreign, safeText } from './elements.ts'

/**
 * The timeline of a request: its steps with their evidence, or a sentence where the service has none.
 * @param path of the route that answers with the timeline
 */
export async function timelineOf(
  path: string,
  headers: Readonly<Record<string, string>>,
  chains: Chains,
): Promise<HTMLElement> {
  try {
    return stepsView(await ask(path, headers), chains)
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) {
      return element('p', { class: 'none' }, 'There is no timeline of this request.')
    }
    throw error
  }
}

function stepsView(timeline: Answer, chains: Chains): HTMLElement {
  const steps = listOf(timeline, 'steps').map((step, index) =>
    element(
      'li',
      {},
      element('strong', {}, foreign(textOf(step, 'step'))),
      ' ',
      element('time', { datetime: textOf(step, 'at') }, timeText(textOf(step, 'at'))),
      ...paragraph(textOf(step, 'text')),
      ...paragraph(textOf(step, 'reason')),
      evidenceView(step, `step ${index + 1}`, chains),
    ),
  )
  if (steps.length === 0) return element('p', { class: 'none' }, 'No step is known yet.')
  return element('ol', { class: 'timeline', 'aria-label': 'Timeline' }, ...steps)
}

function paragraph(text: string): readonly Child[] {
  return text === '' ? [] : [element('p', {}, foreign(text))]
}

function evidenceView(step: Answer, stepName: string, chains: Chains): HTMLElement {
  return factList(
    listOf(step, 'evidence').map((evidence) => {
      const kind = textOf(evidence, 'kind')
      const name = textOf(evidence, 'label') || kind
      const value = textOf(evidence, 'value')
      const content = idKinds.has(kind)
        ? copyable(value, `${name} of ${stepName}`, explorerAddressOf(evidence, chains))
        : foreign(kind === 'moment' ? timeText(value) : value)
      return [safeText(name), content] as const
    }),
  )
}

/** Kinds of evidence that are ids, which readers copy to look them up; `evidenceKinds` of quote-api lists all kinds. */
const idKinds: ReadonlySet<string> = new Set(['transaction', 'signature', 'request'])

function explorerAddressOf(evidence: Answer, chains: Chains): string | undefined {
  if (textOf(evidence, 'kind') !== 'transaction') return undefined
  return chains.transactionAt(textOf(evidence, 'chainId'), textOf(evidence, 'value'))
}
