import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

export type GrownTo = { readonly chains: number; readonly currenciesPerChain: number }

type QuoteJson = { chains: Record<string, { chainId: number; name: string; currencies: object[] }> }
type ChainsJson = { chains: { id: string; hubChainId: string; httpRpcUrl?: unknown }[] }

/**
 * The local configuration grown: its two chains beside others that have no endpoint, so that they are listed and not
 * ready, each of those with as many currencies. @returns the variables that make a service read it
 */
export async function grownEnvironment(
  directory: string,
  { chains: chainCount, currenciesPerChain }: GrownTo,
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
      currencies: [
        ...template[1].currencies,
        ...moreCurrencies(Math.max(currenciesPerChain - template[1].currencies.length, 0)),
      ],
    }
  }
  await writeFile(join(folder, 'quote.local.json'), JSON.stringify(quote))
  await writeFile(join(folder, 'chains.local.json'), JSON.stringify(chains))
  return { CONFIG_DIR: folder }
}

function moreCurrencies(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
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
