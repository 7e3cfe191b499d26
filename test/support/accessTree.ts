// Page as a screen reader has it: Chromium's tree of accessible elements, and the order of Tab through it.
import type { Page } from 'playwright-core'
import { z } from 'zod'

/** Roles that somebody acts on. */
const controls: ReadonlySet<string> = new Set(
  'button checkbox combobox link listbox menuitem option radio searchbox slider spinbutton switch tab textbox'.split(
    ' ',
  ),
)
const tables: ReadonlySet<string> = new Set(['table', 'grid'])
const pictures: ReadonlySet<string> = new Set(['image', 'img', 'graphics-document'])
/** Several controls of one name are told apart by the nearest of these. */
const places: ReadonlySet<string> = new Set(['form', 'navigation', 'region', 'main', 'banner', 'RootWebArea'])

type Accessible = {
  readonly id: string
  readonly role: string
  readonly name: string
  readonly description: string
  readonly properties: ReadonlyMap<string, string>
  readonly parent: Accessible | undefined
}

const valueSchema = z.object({ value: z.unknown().optional() }).optional()
const nodesSchema = z.array(
  z.object({
    nodeId: z.string(),
    parentId: z.string().optional(),
    ignored: z.boolean(),
    role: valueSchema,
    name: valueSchema,
    description: valueSchema,
    properties: z
      .array(z.object({ name: z.string(), value: z.object({ value: z.unknown().optional() }) }))
      .optional(),
  }),
)

const written = (value: { readonly value?: unknown } | undefined): string =>
  typeof value?.value === 'object' || value?.value === undefined ? '' : String(value.value).trim()

/** Every element that assistive technology is told of, in the order in which it is read. */
async function readTree(page: Page): Promise<readonly Accessible[]> {
  const session = await page.context().newCDPSession(page)
  const answer = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const nodes = nodesSchema.parse(answer.nodes)
  const known = new Map(nodes.map((node) => [node.nodeId, node]))
  const made = new Map<string, Accessible>()
  const make = (id: string): Accessible | undefined => {
    const node = known.get(id)
    if (node === undefined) return undefined
    const parent = node.parentId === undefined ? undefined : (made.get(node.parentId) ?? make(node.parentId))
    if (node.ignored) return parent
    const accessible: Accessible = {
      id,
      parent,
      role: written(node.role),
      name: written(node.name),
      description: written(node.description),
      properties: new Map(node.properties?.map(({ name, value }) => [name, written(value)])),
    }
    made.set(id, accessible)
    return accessible
  }
  for (const { nodeId } of nodes) if (!made.has(nodeId)) make(nodeId)
  return [...made.values()]
}

function* around(element: Accessible): Generator<Accessible> {
  for (let at = element.parent; at !== undefined; at = at.parent) yield at
}

/** Elements of the page that a screen reader would not announce; empty if it announces all. */
export async function accessProblems(page: Page): Promise<readonly string[]> {
  const tree = await readTree(page)
  const within = (outer: Accessible, role: string) =>
    tree.filter((element) => element.role === role && [...around(element)].includes(outer))
  const language = await page.evaluate('document.documentElement.lang')
  return [
    ...(language === 'en' ? [] : ['the page names no language']),
    ...tree
      .filter(({ role, name }) => role === 'RootWebArea' && name === '')
      .map(() => 'the page has no title'),
    ...tree.filter(isUnnamed).map(({ role }) => `a ${role || 'thing without a role'} has no name`),
    ...twins(tree),
    ...tree.filter(({ role }) => tables.has(role)).flatMap((table) => tableProblems(table, within)),
    ...headingProblems(tree.filter(({ role }) => role === 'heading')),
    ...(tree.some(({ role, properties }) => role === 'status' && properties.get('live') === 'polite')
      ? []
      : ['nothing tells of changes']),
    ...tree
      .filter(({ properties, description }) => properties.get('invalid') === 'true' && description === '')
      .map(({ name }) => `${name} is wrong, and nothing says why`),
  ]
}

function isUnnamed({ role, name, properties }: Accessible): boolean {
  if (name !== '' || role === 'RootWebArea') return false
  const takesFocus = properties.get('focusable') === 'true' && role !== 'main'
  return takesFocus || controls.has(role) || pictures.has(role) || tables.has(role) || role === 'form'
}

/** Two controls of one place that are called the same. */
function twins(tree: readonly Accessible[]): readonly string[] {
  const seen = new Set<string>()
  return tree
    .filter(({ role }) => controls.has(role) && role !== 'option')
    .flatMap((control) => {
      const place = [...around(control)].find(({ role }) => places.has(role))
      const said = `${control.role} ${control.name} in ${place?.role} ${place?.name}`
      if (seen.has(said)) return [`two of: ${said}`]
      seen.add(said)
      return []
    })
}

function tableProblems(
  table: Accessible,
  within: (outer: Accessible, role: string) => readonly Accessible[],
): readonly string[] {
  const columns = within(table, 'columnheader')
  // The first row holds the headings of the columns.
  const rows = within(table, 'row').length - 1
  return [
    ...(within(table, 'caption').length === 1 ? [] : [`table ${table.name} has no caption`]),
    ...(columns.length > 0 && columns.every(({ name }) => name !== '') ? [] : [`columns of ${table.name}`]),
    ...(within(table, 'rowheader').length === rows ? [] : [`rows of ${table.name} have no headings`]),
  ]
}

function headingProblems(headings: readonly Accessible[]): readonly string[] {
  const levels = headings.map(({ properties }) => Number(properties.get('level')))
  return [
    ...(levels.filter((level) => level === 1).length === 1 && levels[0] === 1 ? [] : [`headings: ${levels}`]),
    ...levels.flatMap((level, index) =>
      level > (levels[index - 1] ?? 0) + 1 ? [`a heading of ${level} after one of ${levels[index - 1]}`] : [],
    ),
  ]
}

const focusSchema = z.object({
  place: z.number(),
  name: z.string(),
  outlinePx: z.number(),
  isOnScreen: z.boolean(),
})
const readFocus = `(() => {
  const at = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(at)
  const { width, height, right, bottom } = at.getBoundingClientRect()
  return {
    place: at === document.body ? -1 : [...document.querySelectorAll('*')].indexOf(at),
    name: at.tagName + ' ' + (at.getAttribute('aria-label') ?? at.textContent).trim().slice(0, 40),
    outlinePx: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth),
    isOnScreen: width > 0 && height > 0 && right > 0 && bottom > 0,
  }
})()`
const stopsMax = 400

/**
 * Problems of the Tab order from the top of the page, once around. Leaves no element with the focus.
 * @returns elements out of the order of reading, and those invisible while they have the focus
 */
export async function focusProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate('document.activeElement.blur(), getSelection().collapse(document.body, 0)')
  const problems: string[] = []
  let last = -1
  for (let stops = 0; stops < stopsMax; stops += 1) {
    await page.keyboard.press('Tab')
    const { place, name, outlinePx, isOnScreen } = focusSchema.parse(await page.evaluate(readFocus))
    if (place === -1) return stops > 2 ? problems : [...problems, 'Tab leads nowhere']
    // Around, where nothing of the browser itself is between the last and the first.
    if (place < last && stops > 2) return problems
    if (outlinePx < 2 || !isOnScreen) problems.push(`the focus on ${name} is not seen`)
    last = place
  }
  return [...problems, 'Tab leads round and round']
}

/** Focused element: its id, or the name of its field. */
export async function focused(page: Page): Promise<string> {
  return z
    .string()
    .parse(
      await page.evaluate(
        'document.activeElement.id || document.activeElement.name || document.activeElement.tagName',
      ),
    )
}
