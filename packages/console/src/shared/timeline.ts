import { type Answer, ask, listOf, RefusedError, textOf, timeText } from './answers.ts'
import type { Chains } from './chains.ts'
import { type Child, copyable, element, facts, foreign, visible } from './elements.ts'

/** The steps of a request with their evidence, or a sentence where the service keeps none. */
export async function timelineOf(
  path: string,
  headers: Readonly<Record<string, string>>,
  chains: Chains,
): Promise<HTMLElement> {
  try {
    return drawn(await ask(path, headers), chains)
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) {
      return element('p', { class: 'none' }, 'There is no timeline of this request.')
    }
    throw error
  }
}

function drawn(timeline: Answer, chains: Chains): HTMLElement {
  const steps = listOf(timeline, 'steps').map((step, index) =>
    element(
      'li',
      {},
      element('strong', {}, foreign(textOf(step, 'step'))),
      ' ',
      element('time', { datetime: textOf(step, 'at') }, timeText(textOf(step, 'at'))),
      ...paragraph(textOf(step, 'text')),
      ...paragraph(textOf(step, 'reason')),
      evidenceOf(step, `step ${index + 1}`, chains),
    ),
  )
  if (steps.length === 0) return element('p', { class: 'none' }, 'No step is known yet.')
  return element('ol', { class: 'timeline', 'aria-label': 'Timeline' }, ...steps)
}

function paragraph(text: string): readonly Child[] {
  return text === '' ? [] : [element('p', {}, foreign(text))]
}

function evidenceOf(step: Answer, place: string, chains: Chains): HTMLElement {
  return facts(
    listOf(step, 'evidence').map((one) => {
      const name = textOf(one, 'label') || textOf(one, 'kind')
      const value = textOf(one, 'value')
      const isId = idKinds.has(textOf(one, 'kind'))
      const shown = isId
        ? copyable(value, `${name} of ${place}`, addressOf(one, chains))
        : foreign(textOf(one, 'kind') === 'moment' ? timeText(value) : value)
      return [visible(name), shown] as const
    }),
  )
}

/** Kinds of evidence that somebody looks up elsewhere; see `evidenceKinds` of quote-api. */
const idKinds: ReadonlySet<string> = new Set(['transaction', 'signature', 'request'])

function addressOf(evidence: Answer, chains: Chains): string | undefined {
  if (textOf(evidence, 'kind') !== 'transaction') return undefined
  return chains.transactionAt(textOf(evidence, 'chainId'), textOf(evidence, 'value'))
}
