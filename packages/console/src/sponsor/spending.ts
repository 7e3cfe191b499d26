import { type Answer, dollars, listOf, textOf } from '../shared/answers.ts'
import { element, svgElement, table } from '../shared/elements.ts'

/** `day`: in UTC, as `2026-11-25`. */
type Day = { readonly day: string; readonly spentMicroUsd: bigint }

// Sizes of the chart, in units of its viewBox.
const width = 600
const height = 160
/** Space below the bars, for the first and the last day. */
const footHeight = 18
/** Space above the bars, for the largest amount. */
const headHeight = 14
/** Lines that the texts in these spaces stand on. */
const headTextY = '11'
const footTextY = String(height - 4)
const dayMs = 86_400_000
/** Bounds the chart, whatever period the answer names. */
const daysMax = 366

/** Section of the sponsors' page: spending per day as a bar chart, and as a table with the same figures. */
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

/** Sums the paid fees of every day of the statement's period; days without any are zero. */
function daysOf(statement: Answer): readonly Day[] {
  // The first account of a statement is the sponsor's balance.
  const lines = listOf(listOf(statement, 'accounts')[0] ?? {}, 'lines')
  const spentByDay = new Map<string, bigint>()
  for (const line of lines) {
    const amount = textOf(line, 'amount')
    if (textOf(line, 'kind') !== 'fees' || !/^-?[0-9]+$/.test(amount)) continue
    const day = textOf(line, 'day')
    // Paid fees are negative changes of the balance.
    spentByDay.set(day, (spentByDay.get(day) ?? 0n) - BigInt(amount))
  }
  const firstMs = Date.parse(`${textOf(statement, 'from')}T00:00:00Z`)
  const lastMs = Date.parse(`${textOf(statement, 'to')}T00:00:00Z`)
  const days: Day[] = []
  for (let startMs = firstMs; startMs <= lastMs && days.length < daysMax; startMs += dayMs) {
    const day = new Date(startMs).toISOString().slice(0, 10)
    days.push({ day, spentMicroUsd: spentByDay.get(day) ?? 0n })
  }
  return days
}

function chartOf(days: readonly Day[], label: string): SVGSVGElement {
  const most = days.reduce((max, day) => larger(max, day.spentMicroUsd), 0n)
  const dayWidth = width / Math.max(1, days.length)
  const barHeightMax = height - footHeight - headHeight
  const bars = days.map(({ day, spentMicroUsd }, index) => {
    const share = most === 0n || spentMicroUsd < 0n ? 0 : Number((spentMicroUsd * 1_000n) / most) / 1_000
    // Any spending shows at least one unit high. One unit stays free on each side of a bar.
    const barHeight = spentMicroUsd > 0n ? Math.max(1, share * barHeightMax) : 0
    return svgElement(
      'rect',
      {
        x: (index * dayWidth + 1).toFixed(1),
        y: (height - footHeight - barHeight).toFixed(1),
        width: Math.max(1, dayWidth - 2).toFixed(1),
        height: barHeight.toFixed(1),
      },
      svgElement('title', {}, `${day}: ${dollars(spentMicroUsd.toString())}`),
    )
  })
  const base = String(height - footHeight)
  return svgElement(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label },
    svgElement('text', { x: '0', y: headTextY }, dollars(most.toString())),
    svgElement('line', { x1: '0', x2: String(width), y1: base, y2: base }),
    ...bars,
    svgElement('text', { x: '0', y: footTextY }, days[0]?.day ?? ''),
    svgElement('text', { x: String(width), y: footTextY, 'text-anchor': 'end' }, days.at(-1)?.day ?? ''),
  )
}

/** `Math.max` does not accept bigints. */
function larger(one: bigint, other: bigint): bigint {
  if (one > other) return one
  return other
}
