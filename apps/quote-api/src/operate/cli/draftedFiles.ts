// Drafts the configuration files of an operator's own environment from those that this release ships.
import { fillInByDeploying, fillInByHand } from '@causeway/chains'
import { vmTypes } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { z } from 'zod'

/** Parsed files of a shipped environment, by file name without environment, e.g. `chains` of `chains.mainnets.prod.json`. */
export type ShippedFiles = Readonly<Record<'chains' | 'chains.hub' | 'quote' | 'solver', unknown>>

/** The drafts, by the same names. */
export type DraftedFiles = Readonly<Record<keyof ShippedFiles | 'allocator', object>>

const listByChain = z.array(z.looseObject({ chain: z.string() }))
const chainsFile = z.looseObject({
  chains: z.array(z.looseObject({ id: z.string(), vmType: z.enum(vmTypes) })),
})
const hubFile = z.looseObject({ evmChainId: z.number() })
const quoteFile = z.looseObject({
  assets: z.array(z.looseObject({ id: z.string(), priceKey: z.string() })),
  prices: z.array(z.looseObject({ key: z.string(), feeds: listByChain, pools: listByChain.optional() })),
  chains: z.record(
    z.string(),
    z.looseObject({
      multicall3: z.string().optional(),
      currencies: z.array(
        z.looseObject({
          address: z.string(),
          symbol: z.string(),
          decimals: z.number(),
          asset: z.string(),
          targetShareBps: z.number().optional(),
        }),
      ),
    }),
  ),
})
const solverFile = z.looseObject({ chains: z.record(z.string(), z.unknown()) })

type ListedChain = z.infer<typeof chainsFile>['chains'][number]
type QuoteFile = z.infer<typeof quoteFile>
type QuotedChain = QuoteFile['chains'][string]
type Currency = QuotedChain['currencies'][number]

/** Chains for which files can be drafted: those that both the chain file and the quote file have. */
export function draftableChains({
  chains,
  quote,
}: Pick<ShippedFiles, 'chains' | 'quote'>): readonly string[] {
  const listedIds = new Set(requireSchema(chainsFile, chains).chains.map(({ id }) => id))
  return Object.keys(requireSchema(quoteFile, quote).chains).filter((key) => listedIds.has(key))
}

/**
 * Keeps what is public, such as tokens and feeds. Leaves out what belongs to the shipped environment, such as
 * its contracts; where the operator needs his own instead, words say what to fill in: `contracts deploy
 * --write` replaces those of `fillInByDeploying`, the operator those of `fillInByHand`.
 * @param draft.keys chains to draft, of `draftableChains`
 */
export function draftFiles(
  shipped: ShippedFiles,
  { environment, keys }: { readonly environment: string; readonly keys: readonly string[] },
): DraftedFiles {
  const isDrafted = (key: string) => keys.includes(key)
  const chains = requireSchema(chainsFile, shipped.chains)
  const quote = requireSchema(quoteFile, shipped.quote)
  const solver = requireSchema(solverFile, shipped.solver)
  const draftedChains = chains.chains.filter(({ id }) => isDrafted(id))
  return {
    chains: {
      ...chains,
      environment,
      chains: draftedChains.map((chain) => draftChain(chain, quote.chains[chain.id])),
    },
    'chains.hub': draftHub(shipped['chains.hub'], environment),
    quote: { ...quote, environment, ...draftQuotes(quote, isDrafted) },
    solver: { ...solver, environment, chains: entriesOf(solver.chains, isDrafted) },
    allocator: {
      $schema: './schema/allocator.schema.json',
      environment,
      firstBlock: fillInByHand("number of a block of the hub's chain from before you deploy the allocator"),
      // 50 gwei, as in docs/operating/allocator.md; the operator may change it.
      maxFeePerGasWei: '50000000000',
      depositories: draftedChains.map((chain) =>
        draftDepository(chain, quote.chains[chain.id]?.currencies ?? []),
      ),
    },
  }
}

/** A chain of the chain file without the depositories, contracts and payers of the shipped environment. */
function draftChain(chain: ListedChain, quoted: QuotedChain | undefined): object {
  const { id } = chain
  return {
    ...omit(chain, ['additionalDepositories', 'fillContracts', 'fillPayers', 'codeHashes']),
    depository: isDeployedTo(quoted)
      ? fillInByDeploying(`the depository on ${id}`)
      : fillInByHand(`the address of your depository on ${id}`),
  }
}

/** Keeps the hub's chain, which is public, and leaves out the contracts of the hub. */
function draftHub(json: unknown, environment: string): object {
  const hub = requireSchema(hubFile, json)
  return {
    ...omit(hub, ['codeHashes', 'withdrawalKeys', 'auroraHttpRpcUrl', 'auroraFinality']),
    environment,
    hubAddress: fillInByDeploying('the hub'),
    oracleAddress: fillInByDeploying('the contract that executes what oracles attest'),
    // This release deploys a contract of this version.
    oracleVersion: '2',
    oracleMultisigAddress: fillInByDeploying('the contract that names the oracles'),
    genericMappingAddress: fillInByDeploying('the generic mapping'),
    // The allocator works on the hub alone.
    auroraEvmChainId: hub.evmChainId,
    auroraAllocatorAddress: fillInByDeploying("the allocator's contract"),
    auroraAllocatorSpenderAddress: fillInByDeploying("the allocator's contract, as the domain of requests"),
  }
}

function draftQuotes(file: QuoteFile, isDrafted: (key: string) => boolean): object {
  const quoted = entriesOf(file.chains, isDrafted)
  const currencies = Object.values(quoted).flatMap((chain) => chain.currencies)
  const shares = wholeShares(currencies)
  const assets = file.assets.filter(({ id }) => currencies.some(({ asset }) => asset === id))
  const prices = file.prices.filter(({ key }) => assets.some(({ priceKey }) => priceKey === key))
  const chains = Object.entries(quoted).map(([key, chain]) => {
    const drafted = {
      ...omit(chain, contractMembers),
      ...(isDeployedTo(chain) && { fillContract: fillInByDeploying(`the fill contract on ${key}`) }),
      currencies: chain.currencies.map((currency) => withShare(currency, shares)),
    }
    return [key, drafted] as const
  })
  return {
    assets,
    prices: prices.map((price) => {
      const feeds = price.feeds.filter(({ chain }) => isDrafted(chain))
      return {
        ...price,
        feeds: feeds.length > 0 ? feeds : [missingFeed(price)],
        ...(price.pools !== undefined && { pools: price.pools.filter(({ chain }) => isDrafted(chain)) }),
      }
    }),
    chains: Object.fromEntries(chains),
  }
}

/** Members of a quoted chain that name contracts of an environment; `contracts deploy` or the operator writes new ones. */
const contractMembers = [
  ...['fillContract', 'cleanupRouter', 'depositRouter', 'depositAddresses', 'permitRouter', 'permit2Router'],
  ...['depositAddressProgram', 'depositAddressKey'],
]

/** True if `contracts deploy` works on the chain: it has multicall3, and so is read by contract calls. */
function isDeployedTo(chain: QuotedChain | undefined): boolean {
  return chain?.multicall3 !== undefined
}

function missingFeed({ key, feeds }: QuoteFile['prices'][number]): { readonly chain: string } {
  const chainNames = [...new Set(feeds.map(({ chain }) => chain))].join(', ')
  return {
    chain: fillInByHand(`a feed of ${key}, with a chain of yours; this release knows one on ${chainNames}`),
  }
}

function draftDepository({ id, vmType }: ListedChain, currencies: readonly Currency[]): object {
  const cap = ({ symbol, decimals }: Currency) =>
    fillInByHand(`the most ${symbol} to be signed on ${id} within an hour, in units of 10^-${decimals}`)
  return {
    chain: id,
    caps: Object.fromEntries(currencies.map((currency) => [currency.address, cap(currency)])),
    ...Object.fromEntries(
      families[vmType].depositoryMembers.map((name) => [
        name,
        fillInByHand(`${name} of your depository on ${id}`),
      ]),
    ),
  }
}

const wholeBps = 10_000

/** Target shares per currency, scaled so that those of each asset add up to 100 % on the drafted chains. Rounded down; the last takes the rest. */
function wholeShares(currencies: readonly Currency[]): ReadonlyMap<Currency, number> {
  const heldCurrencies = currencies.filter(({ targetShareBps }) => targetShareBps !== undefined)
  const shares = new Map<Currency, number>()
  for (const asset of new Set(heldCurrencies.map((currency) => currency.asset))) {
    const assetCurrencies = heldCurrencies.filter((currency) => currency.asset === asset)
    const sumBps = assetCurrencies.reduce((total, { targetShareBps = 0 }) => total + targetShareBps, 0)
    let leftBps = wholeBps
    for (const [index, currency] of assetCurrencies.entries()) {
      // `Math.max`: the shares of an asset may all be 0.
      const scaledBps = Math.floor(((currency.targetShareBps ?? 0) * wholeBps) / Math.max(sumBps, 1))
      const shareBps = index === assetCurrencies.length - 1 ? leftBps : scaledBps
      shares.set(currency, shareBps)
      leftBps -= shareBps
    }
  }
  return shares
}

function withShare(currency: Currency, shares: ReadonlyMap<Currency, number>): Currency {
  const targetShareBps = shares.get(currency)
  return targetShareBps === undefined ? currency : { ...currency, targetShareBps }
}

/** Checks the file and returns it unchanged: the schema's own output would have the members in another order. */
function requireSchema<Schema extends z.ZodType>(schema: Schema, json: unknown): z.infer<Schema> {
  schema.parse(json)
  // CAST: it fits, and the schemas above change nothing.
  return json as z.infer<Schema>
}

function entriesOf<Value>(
  members: Readonly<Record<string, Value>>,
  isKept: (key: string) => boolean,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(members).filter(([key]) => isKept(key)))
}

function omit(members: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}
