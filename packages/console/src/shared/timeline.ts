import { type Answer, ask, listOf, RefusedError, textOf, timeText } from './answers.ts'
import { type Child, copyable, element, facts, foreign, visible } from './elements.ts'

/** The steps of a request with their evidence, or a sentence where the service keeps none. */
export async function timelineOf(
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<HTMLElement> {
  try {
    return drawn(await ask(path, headers))
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) {
      return element('p', { class: 'none' }, 'There is no timeline of this request.')
    }
    throw error
  }
}

function drawn(timeline: Answer): HTMLElement {
  const steps = listOf(timeline, 'steps').map((step) =>
    element(
      'li',
      {},
      element('strong', {}, foreign(textOf(step, 'step'))),
      ' ',
      element('time', { datetime: textOf(step, 'at') }, timeText(textOf(step, 'at'))),
      ...paragraph(textOf(step, 'text')),
      ...paragraph(textOf(step, 'reason')),
      evidenceOf(step),
    ),
  )
  if (steps.length === 0) return element('p', { class: 'none' }, 'No step is known yet.')
  return element('ol', { class: 'timeline', 'aria-label': 'Timeline' }, ...steps)
}

function paragraph(text: string): readonly Child[] {
  return text === '' ? [] : [element('p', {}, foreign(text))]
}

function evidenceOf(step: Answer): HTMLElement {
  return facts(
    listOf(step, 'evidence').map((one) => {
      const name = `${textOf(one, 'kind')} ${textOf(one, 'label')}`
      const value = textOf(one, 'value')
      const isId = !value.includes(' ') && value.length > 20
      const shown = isId ? copyable(value, `${name} of ${textOf(step, 'step')}`) : foreign(value)
      return [visible(name), shown] as const
    }),
  )
}
