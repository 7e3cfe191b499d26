import { type Answer, dollars, listOf, textOf } from '../shared/answers.ts'
import { drawing, element, table } from '../shared/elements.ts'

type Day = { readonly day: string; readonly spentMicroUsd: bigint }

const width = 600
const height = 160
const foot = 18

/** Spending per day as a bar chart and as a table with the same figures. */
export function spendingView(statement: Answer): HTMLElement {
  const days = daysOf(statement)
  const rows = days
    .filter(({ spentMicroUsd }) => spentMicroUsd !== 0n)
    .map(({ day, spentMicroUsd }) => [day, dollars(spentMicroUsd.toString())])
  const total = days.reduce((sum, { spentMicroUsd }) => sum + spentMicroUsd, 0n)
  const label = `Spending per day from ${textOf(statement, 'from')} to ${textOf(statement, 'to')}, together ${dollars(total.toString())}`
  return element(
    'div',
    {},
    element('figure', {}, chartOf(days, label)),
    table('Spending per day', ['Day', 'Spent'], rows, 'Nothing was spent.'),
  )
}

/** Every day of the period, those without a line as zero. */
function daysOf(statement: Answer): readonly Day[] {
  // Sponsor money comes first.
  const lines = listOf(listOf(statement, 'accounts')[0] ?? {}, 'lines')
  const spent = new Map<string, bigint>()
  for (const line of lines) {
    const amount = textOf(line, 'amount')
    if (textOf(line, 'kind') !== 'fees' || !/^-?[0-9]+$/.test(amount)) continue
    const day = textOf(line, 'day')
    spent.set(day, (spent.get(day) ?? 0n) - BigInt(amount))
  }
  const first = Date.parse(`${textOf(statement, 'from')}T00:00:00Z`)
  const last = Date.parse(`${textOf(statement, 'to')}T00:00:00Z`)
  const days: Day[] = []
  for (let at = first; at <= last && days.length < 366; at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10)
    days.push({ day, spentMicroUsd: spent.get(day) ?? 0n })
  }
  return days
}

function chartOf(days: readonly Day[], label: string): SVGSVGElement {
  const most = days.reduce((max, day) => larger(max, day.spentMicroUsd), 0n)
  const step = width / Math.max(1, days.length)
  const room = height - foot - 14
  const bars = days.map(({ day, spentMicroUsd }, index) => {
    // In thousandths, so that the division is of integers.
    const share = most === 0n || spentMicroUsd < 0n ? 0 : Number((spentMicroUsd * 1_000n) / most) / 1_000
    const tall = spentMicroUsd > 0n ? Math.max(1, share * room) : 0
    return drawing(
      'rect',
      {
        x: (index * step + 1).toFixed(1),
        y: (height - foot - tall).toFixed(1),
        width: Math.max(1, step - 2).toFixed(1),
        height: tall.toFixed(1),
      },
      drawing('title', {}, `${day}: ${dollars(spentMicroUsd.toString())}`),
    )
  })
  const base = String(height - foot)
  return drawing(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    drawing('text', { x: '0', y: '11' }, dollars(most.toString())),
    drawing('line', { x1: '0', x2: String(width), y1: base, y2: base }),
    ...bars,
    drawing('text', { x: '0', y: String(height - 4) }, days[0]?.day ?? ''),
    drawing(
      'text',
      { x: String(width), y: String(height - 4), 'text-anchor': 'end' },
      days.at(-1)?.day ?? '',
    ),
  )
}

/** `Math.max` takes no integers of this size. */
function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one
  return other
}
