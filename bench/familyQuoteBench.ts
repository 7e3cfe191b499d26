import type { LoadResult } from './load.ts'
import { type BenchProcess, startQuoteServer } from './process.ts'
import { alternate, describe, dollarBodies, type QuoteSide, ratioOf } from './quoteBench.ts'
import type { BenchRow } from './row.ts'
import { type Family, type FamilyChains, families, startFamilyChains } from './startFamilyChains.ts'

const paths = ['/price', '/quote'] as const
const ways = ['to', 'from'] as const

/** A row and its family: `P1` and `P2` come together. */
const idOf = (path: (typeof paths)[number], family: Family) =>
  `P${paths.indexOf(path) + 1}-${family.toLowerCase()}`

const allIds = ['P1-families', 'P2-families']
export const familyQuoteIds: readonly string[] = [
  ...allIds,
  ...families.flatMap((family) => paths.map((path) => idOf(path, family))),
]

/**
 * P1 and P2 with each other family on one side, against the same work between two EVM chains in the same run.
 * @param wanted ids of rows; without any of one family all of them are measured
 */
export async function benchFamilyQuotes(wanted: ReadonlySet<string>): Promise<readonly BenchRow[]> {
  const isEach = wanted.size === 0 || allIds.some((id) => wanted.has(id))
  const measured = families.filter((family) => isEach || paths.some((path) => wanted.has(idOf(path, family))))
  const chains = await startFamilyChains()
  let server: BenchProcess | undefined
  try {
    server = await startQuoteServer({ ...process.env, ...chains.environment })
    const results = await measure(server, chains, measured)
    return measured.flatMap((family) => rowsOf(family, results))
  } finally {
    await server?.stop()
    await chains.stop()
  }
}

function rowsOf(family: Family, results: Map<string, LoadResult[]>): readonly BenchRow[] {
  return paths.flatMap((path) =>
    ways.map((way) => ({
      id: `${idOf(path, family)}-${way}`,
      name: `POST ${path} ${way} ${family}`,
      value: `${describe(results, `${path} ${way} ${family}`)}; EVM ${describe(results, path)}`,
      limit: '>= 0.8 of the EVM route',
      ratio: ratioOf(results, `${path} ${way} ${family}`, path),
      goal: 0.8,
      atLeast: true,
    })),
  )
}

/** All of them in one alternation, which has the EVM route once. */
function measure(
  { url, child }: BenchProcess,
  { origin, destination, families: sides }: FamilyChains,
  measured: readonly Family[],
): Promise<Map<string, LoadResult[]>> {
  const common = { url, pid: child.pid }
  const routes = measured.flatMap((family, index) => [
    {
      name: `to ${family}`,
      texts: dollarBodies({ from: { ...origin, accounts: othersThan(origin, index) }, to: sides[family] }),
    },
    { name: `from ${family}`, texts: dollarBodies({ from: sides[family], to: destination }) },
  ])
  return alternate(
    paths.flatMap((path) => [
      { ...common, path, name: path },
      ...routes.map(({ name, texts }) => ({ ...common, path, texts, name: `${path} ${name}` })),
    ]),
    dollarBodies({ from: origin, to: destination }),
  )
}

/**
 * Each route has users of its own: the open quotes of one user together may promise no more than the solver can pay where
 * the newest would be paid, which is five thousand dollars on the poorest of these chains.
 */
const othersThan = ({ accounts }: QuoteSide, index: number): string[] =>
  accounts.map((account) => `0x${index}${account.slice(3)}`)
