import { writeFile } from 'node:fs/promises'

/** Cost of one request, by the number of existing items. */
export type Curve = {
  readonly name: string
  readonly points: { readonly size: number; readonly cost: number }[]
}

const file = new URL('../../docs/internals/growth.svg', import.meta.url)

const sheet = { width: 720, height: 360, left: 60, right: 250, top: 24, bottom: 44 }
const inks = ['#1f6feb', '#b35900', '#1a7f37', '#8250df', '#cf222e', '#57606a']

/**
 * Draws each curve against its own beginning: across, how many times as much there is (by decades), and upwards, how many
 * times as much one request costs. A level line is growth that costs nothing.
 */
export async function drawCurves(curves: readonly Curve[]): Promise<void> {
  const drawn = curves.map(({ name, points }) => {
    const [first] = points
    return {
      name,
      points: points.map(({ size, cost }) => ({
        times: size / (first?.size ?? 1),
        cost: cost / (first?.cost ?? 1),
      })),
    }
  })
  const all = drawn.flatMap(({ points }) => points)
  const decades = Math.ceil(Math.log10(Math.max(10, ...all.map(({ times }) => times))))
  const costMax = Math.ceil(2 * Math.max(2, ...all.map(({ cost }) => cost))) / 2
  const plotWidth = sheet.width - sheet.left - sheet.right
  const plotHeight = sheet.height - sheet.top - sheet.bottom
  const across = (times: number) => sheet.left + (Math.log10(times) / decades) * plotWidth
  const upwards = (cost: number) => sheet.top + (1 - cost / costMax) * plotHeight
  const grid = [
    ...Array.from({ length: decades + 1 }, (_, power) => {
      const x = across(10 ** power)
      return `${line([x, sheet.top], [x, upwards(0)])}${words(x, upwards(0) + 18, `${(10 ** power).toLocaleString('en-US')} ×`, 'middle')}`
    }),
    ...Array.from({ length: 2 * costMax + 1 }, (_, half) => {
      const y = upwards(half / 2)
      return `${line([sheet.left, y], [across(10 ** decades), y])}${words(sheet.left - 8, y + 4, `${half / 2}`, 'end')}`
    }),
  ]
  const lines = drawn.map(({ name, points }, index) => {
    const ink = inks[index % inks.length] ?? '#000'
    const places = points.map(({ times, cost }) => [across(times), upwards(cost)] as const)
    const path = places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')
    const dots = places.map(
      ([x, y]) => `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="${ink}"/>`,
    )
    const keyY = sheet.top + 12 + 20 * index
    const key = `<rect x="${sheet.width - sheet.right + 24}" y="${keyY - 9}" width="10" height="10" fill="${ink}"/>${words(sheet.width - sheet.right + 40, keyY, name, 'start')}`
    return `<polyline points="${path}" fill="none" stroke="${ink}" stroke-width="2"/>${dots.join('')}${key}`
  })
  const title = words(sheet.left, 14, 'cost of one request, against its cost at the first size', 'start')
  const base = words(sheet.left, sheet.height - 6, 'how many times as much there is', 'start')
  await writeFile(
    file,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${sheet.width} ${sheet.height}" font-family="sans-serif" font-size="12"><title>Cost of one request against its cost at the first size, by how many times as much there is</title><rect width="100%" height="100%" fill="#fff"/>${title}${base}${grid.join('')}${lines.join('')}</svg>\n`,
  )
}

type Place = readonly [x: number, y: number]

function line([x1, y1]: Place, [x2, y2]: Place): string {
  return `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="#d0d7de"/>`
}

function words(x: number, y: number, text: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="#24292f">${text}</text>`
}
