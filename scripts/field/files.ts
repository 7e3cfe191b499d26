// Configuration of the chains that a field run uses, from the files of an environment. Pure.
import { ConfigurationError, type Hex } from '@causeway/core'
import { parseCasedAddress } from '@causeway/families/rules'
import { zeroAddress } from 'viem'
import { z } from 'zod'

const endpointPlaceholder = z.string().regex(/^\$[A-Z][A-Z0-9_]*$/, 'must be named by a variable')

const name = z.string().optional()
const contract = z.object({ contract: z.string() }).optional()

const filesSchema = z.object({
  chains: z.object({
    chains: z.array(
      z.object({
        id: z.string(),
        vmType: z.string(),
        httpRpcUrl: z.unknown(),
        depository: z.unknown(),
        signingCaps: z.unknown(),
      }),
    ),
  }),
  hub: z.object({ httpRpcUrl: endpointPlaceholder }),
  quote: z.object({
    assets: z.array(z.object({ id: z.string(), priceKey: z.string() })),
    prices: z.array(
      z.object({
        key: z.string(),
        feeds: z.array(z.object({ chain: z.string(), address: z.string(), decimals: z.number() })),
      }),
    ),
    chains: z.record(
      z.string(),
      z.object({
        chainId: z.number(),
        fillContract: name,
        cleanupRouter: name,
        depositRouter: name,
        permit2Router: name,
        depositAddresses: contract,
        permitRouter: contract,
        wrappedNative: z.string().optional(),
        uniswapV3: z.object({ swapRouter: z.string() }).optional(),
        feeModel: z.object({ gasPriceOracle: z.string().optional() }).optional(),
        currencies: z.array(
          z.object({ address: z.string(), asset: z.string(), solver: z.boolean().optional() }),
        ),
      }),
    ),
  }),
})

type Files = z.infer<typeof filesSchema>

/** A chain that payments are tried on. */
export type FieldChain = {
  readonly key: string
  readonly chainId: number
  /** Names its endpoints. */
  readonly variable: string
  readonly depository: Hex
  readonly fillContract: Hex
  /** All that the files name beside the depository, in lower case. */
  readonly contracts: readonly Hex[]
  readonly wrappedNative: Hex | undefined
  readonly swapRouter: Hex | undefined
  /** Gas-price oracle of a rollup. */
  readonly gasPriceOracle: Hex | undefined
  /** Price feed of its native coin. */
  readonly feed: { readonly chain: string; readonly address: Hex; readonly decimals: number }
}

export type FieldFiles = {
  /** Those whose endpoints are given. */
  readonly chains: readonly FieldChain[]
  readonly hubVariable: string
  /** Variables of signing caps that the files leave to the operator. */
  readonly capVariables: readonly string[]
}

type Variables = Readonly<Record<string, string | undefined>>

/**
 * @param json the parsed files, as they are written
 * @throws ConfigurationError that says what is missing
 */
export function readFieldFiles(
  json: Readonly<Record<keyof Files, unknown>>,
  variables: Variables,
): FieldFiles {
  const parsed = filesSchema.safeParse(json)
  if (!parsed.success)
    throw new ConfigurationError(`The files are not fit for the field:\n${z.prettifyError(parsed.error)}`)
  const { chains: listed, hub, quote } = parsed.data
  const isGiven = (variable: string) => (variables[variable] ?? '') !== ''
  const variableOf = (id: string): string | undefined => {
    const url = listed.chains.find((chain) => chain.id === id)?.httpRpcUrl
    const { success, data } = endpointPlaceholder.safeParse(url)
    return success ? data.slice(1) : undefined
  }
  const given = listed.chains.filter(({ id, vmType }) => {
    const variable = variableOf(id)
    return vmType === 'ethereum-vm' && quote.chains[id] !== undefined && variable && isGiven(variable)
  })
  const hubVariable = hub.httpRpcUrl.slice(1)
  if (given.length < 2) {
    const known = listed.chains.flatMap(({ id }) => variableOf(id) ?? [])
    throw new ConfigurationError(
      `A payment needs the endpoints of two chains: set two of ${known.join(', ')}.`,
    )
  }
  if (!isGiven(hubVariable)) throw new ConfigurationError(`Oracles read the hub: set ${hubVariable}.`)
  const keys = given.map(({ id }) => id)
  return {
    chains: given.map(({ id, depository }) => ({
      ...chainOf(id, quote, keys),
      variable: variableOf(id) ?? '',
      depository: addressOf(depository, `the depository of ${id}`),
    })),
    hubVariable,
    capVariables: listed.chains.flatMap(({ signingCaps }) => {
      const { success, data } = endpointPlaceholder.safeParse(signingCaps)
      return success ? [data.slice(1)] : []
    }),
  }
}

function chainOf(
  key: string,
  { chains, assets, prices }: Files['quote'],
  keys: readonly string[],
): Omit<FieldChain, 'variable' | 'depository'> {
  const chain = chains[key]
  const native = chain?.currencies.find((currency) => currency.address === zeroAddress && currency.solver)
  const { priceKey } = assets.find(({ id }) => id === native?.asset) ?? {}
  const feed = prices
    .find((price) => price.key === priceKey)
    ?.feeds.filter((one) => keys.includes(one.chain))
    .sort((one, other) => Number(other.chain === key) - Number(one.chain === key))[0]
  if (chain === undefined || native === undefined)
    throw new ConfigurationError(`The solver pays no native coin on ${key}.`)
  if (feed === undefined) throw new ConfigurationError(`No feed tells the price of the coin of ${key}.`)
  const optional = (text: string | undefined, setting: string) =>
    text === undefined ? undefined : addressOf(text, setting)
  return {
    key,
    chainId: chain.chainId,
    fillContract: addressOf(chain.fillContract, `the fill contract of ${key}`),
    contracts: contractsOf(chain).map((address) => addressOf(address, `a contract of ${key}`)),
    wrappedNative: optional(chain.wrappedNative, `wrappedNative of ${key}`),
    swapRouter: optional(chain.uniswapV3?.swapRouter, `swapRouter of ${key}`),
    gasPriceOracle: optional(chain.feeModel?.gasPriceOracle, `gasPriceOracle of ${key}`),
    feed: { ...feed, address: addressOf(feed.address, `the feed of ${key}`) },
  }
}

function contractsOf(chain: Files['quote']['chains'][string]): readonly string[] {
  const { fillContract, cleanupRouter, depositRouter, permit2Router, depositAddresses, permitRouter } = chain
  const named = [fillContract, cleanupRouter, depositRouter, permit2Router]
  return [...named, depositAddresses?.contract, permitRouter?.contract].flatMap((one) => one ?? [])
}

function addressOf(text: unknown, setting: string): Hex {
  const address = typeof text === 'string' ? parseCasedAddress(text) : undefined
  if (address === undefined) throw new ConfigurationError(`The files have no address of ${setting}.`)
  return address
}

const solverSchema = z.looseObject({ chains: z.record(z.string(), z.looseObject({})) })

/** The solver's file for a wallet that holds a few payments: what it keeps for gas would be more than all of them. */
export function withoutFloors(json: unknown): object {
  const { chains, ...rest } = solverSchema.parse(json)
  const entries = Object.entries(chains).map(([key, chain]) => [key, { ...chain, floors: [] }] as const)
  return { ...rest, chains: Object.fromEntries(entries) }
}
