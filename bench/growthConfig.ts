import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestNetwork } from '@causeway/localnet'

const chainCount = 70
const root = new URL('..', import.meta.url).pathname

type QuoteJson = { chains: Record<string, { chainId: number; name: string; currencies: object[] }> }
type ChainsJson = { chains: { id: string; hubChainId: string; httpRpcUrl?: unknown }[] }

/**
 * The local configuration grown: 70 chains (all but two without an endpoint, so listed and not ready)
 * and ten times the currencies. Returns the variables that make a service read it.
 */
export async function growthEnvironment(
  _network: TestNetwork,
  directory: string,
): Promise<Record<string, string>> {
  const folder = join(directory, 'configs')
  await mkdir(folder, { recursive: true })
  await cp(join(root, 'configs/chains.hub.local.json'), join(folder, 'chains.hub.local.json'))
  const quote = await readJson<QuoteJson>('quote.local.json')
  const chains = await readJson<ChainsJson>('chains.local.json')
  const [template] = Object.entries(quote.chains)
  const entry = chains.chains.find(({ id }) => id === template?.[0])
  if (template === undefined || entry === undefined) throw new Error('the local configuration has no chain')
  const { httpRpcUrl: _none, ...unconnected } = entry
  for (let index = Object.keys(quote.chains).length; index < chainCount; index += 1) {
    const id = `grown-${index}`
    const chainId = 1_000_000 + index
    chains.chains.push({ ...unconnected, id, hubChainId: String(chainId) })
    quote.chains[id] = {
      ...template[1],
      chainId,
      name: id,
      currencies: [...template[1].currencies, ...moreCurrencies(template[1].currencies.length)],
    }
  }
  await writeFile(join(folder, 'quote.local.json'), JSON.stringify(quote))
  await writeFile(join(folder, 'chains.local.json'), JSON.stringify(chains))
  return { CONFIG_DIR: folder }
}

function moreCurrencies(present: number): object[] {
  return Array.from({ length: 9 * present }, (_, index) => ({
    address: `0x${(index + 1).toString(16).padStart(40, 'e')}`,
    symbol: `GROWN${index}`,
    name: `Grown ${index}`,
    decimals: 18,
    asset: 'tide',
    source: 'bench',
  }))
}

async function readJson<T>(name: string): Promise<T> {
  // CAST: these are our own files, checked by their own tests.
  return JSON.parse(await readFile(join(root, 'configs', name), 'utf8')) as T
}
