// The configuration files of an environment of one's own, made from those that this release ships.
import { fillInByDeploying, fillInByHand } from '@causeway/chains'
import { vmTypes } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { z } from 'zod'

/** Parsed files of a shipped environment, by the name in front of its own. */
export type ShippedFiles = Readonly<Record<'chains' | 'chains.hub' | 'quote' | 'solver', unknown>>

export type DraftedFiles = Readonly<Record<keyof ShippedFiles | 'allocator', object>>

const placed = z.array(z.looseObject({ chain: z.string() }))
const chainsFile = z.looseObject({
  chains: z.array(z.looseObject({ id: z.string(), vmType: z.enum(vmTypes) })),
})
const hubFile = z.looseObject({ evmChainId: z.number() })
const quoteFile = z.looseObject({
  assets: z.array(z.looseObject({ id: z.string(), priceKey: z.string() })),
  prices: z.array(z.looseObject({ key: z.string(), feeds: placed, pools: placed.optional() })),
  chains: z.record(
    z.string(),
    z.looseObject({
      multicall3: z.string().optional(),
      currencies: z.array(
        z.looseObject({
          ...{ address: z.string(), symbol: z.string(), decimals: z.number(), asset: z.string() },
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

/** Chains that files of one's own can be drafted for: those that are listed and quoted. */
export function draftableChains({
  chains,
  quote,
}: Pick<ShippedFiles, 'chains' | 'quote'>): readonly string[] {
  const listedIds = new Set(requireSchema(chainsFile, chains).chains.map(({ id }) => id))
  return Object.keys(requireSchema(quoteFile, quote).chains).filter((key) => listedIds.has(key))
}

/**
 * Keeps what is public, such as tokens and feeds. Leaves out what belongs to the shipped environment, such as its
 * contracts; where one's own is needed instead, words say what to fill in.
 * @param draft.keys of `draftableChains`
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
      ...{ $schema: './schema/allocator.schema.json', environment },
      firstBlock: fillInByHand("number of a block of the hub's chain from before you deploy the allocator"),
      maxFeePerGasWei: '50000000000',
      depositories: draftedChains.map((chain) =>
        draftDepository(chain, quote.chains[chain.id]?.currencies ?? []),
      ),
    },
  }
}

/** With what others hold there left out, and who is paid by them. */
function draftChain(chain: ListedChain, quoted: QuotedChain | undefined): object {
  const { id } = chain
  return {
    ...omit(chain, ['additionalDepositories', 'fillContracts', 'fillPayers', 'codeHashes']),
    depository: isDeployedTo(quoted)
      ? fillInByDeploying(`the depository on ${id}`)
      : fillInByHand(`the address of your depository on ${id}`),
  }
}

/** The chain of the hub is public, the hub is not. */
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
    const own = {
      ...omit(chain, contractMembers),
      ...(isDeployedTo(chain) && { fillContract: fillInByDeploying(`the fill contract on ${key}`) }),
      currencies: chain.currencies.map((currency) => withShare(currency, shares)),
    }
    return [key, own] as const
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

/** Members of the quote file that `contracts deploy` and operators write for themselves. */
const contractMembers = [
  ...['fillContract', 'cleanupRouter', 'depositRouter', 'depositAddresses', 'permitRouter', 'permit2Router'],
  ...['depositAddressProgram', 'depositAddressKey'],
]

/** Contracts are deployed where chains are read by contract calls. */
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

/** Shares of each asset that add up to all of it, in the ratio that they had among more chains. */
function wholeShares(currencies: readonly Currency[]): ReadonlyMap<Currency, number> {
  const held = currencies.filter(({ targetShareBps }) => targetShareBps !== undefined)
  const shares = new Map<Currency, number>()
  for (const asset of new Set(held.map((currency) => currency.asset))) {
    const own = held.filter((currency) => currency.asset === asset)
    const sum = own.reduce((total, { targetShareBps = 0 }) => total + targetShareBps, 0)
    let left = wholeBps
    for (const [index, currency] of own.entries()) {
      const part = Math.floor(((currency.targetShareBps ?? 0) * wholeBps) / Math.max(sum, 1))
      const share = index === own.length - 1 ? left : part
      shares.set(currency, share)
      left -= share
    }
  }
  return shares
}

function withShare(currency: Currency, shares: ReadonlyMap<Currency, number>): Currency {
  const targetShareBps = shares.get(currency)
  return targetShareBps === undefined ? currency : { ...currency, targetShareBps }
}

/** As it stands there: what a schema gives has the members that it names first. */
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
