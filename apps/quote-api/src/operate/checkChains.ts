import { type ChainCheck, joinProblems, networkContradictions } from '@causeway/chains'
import { isKnownCode } from '@causeway/contracts/codes'
import type { Hex } from '@causeway/core'
import { contractChain, isContractChain, type PriceFeed, type QuoteFile } from '@causeway/core/config'
import {
  type ContractExpectations,
  checkContracts,
  checkLocalNodes,
  expectedCodes,
  isOnThisMachine,
  type RegisteredChain,
  type ReliedContract,
} from '@causeway/families'
import type { ChainClient } from '@causeway/rpc'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

/**
 * Checks that the start and the doctor run on each chain with endpoints: chain id, code, feeds, token decimals; in `local`
 * also that it is no public network.
 */
export function chainChecks(args: {
  readonly environment: string
  readonly file: QuoteFile
  readonly registry: QuoteRegistry
  readonly chains: ReadonlyMap<string, RegisteredChain>
  readonly clients: ReadonlyMap<string, ChainClient>
}): ReadonlyMap<string, ChainCheck> {
  const { environment, file, registry, chains, clients } = args
  return new Map(
    registry.chains.flatMap((chain) => {
      const [client, registeredChain] = [clients.get(chain.key), chains.get(chain.key)]
      if (client === undefined) return []
      const check = isContractChain(chain.config)
        ? () =>
            joinProblems([
              checkLocalNodes(environment, client),
              checkContracts(client, expectations(chain, file, registeredChain?.codeHashes)),
            ])
        : () => networkProblems(chain, registeredChain, { client, environment })
      return [[chain.key, check] as const]
    }),
  )
}

/** Statements of the files about a chain that contract calls can confirm. */
export function expectations(
  chain: QuotableChain,
  file: QuoteFile,
  codeHashes: RegisteredChain['codeHashes'],
): ContractExpectations {
  const { key } = chain
  const config = contractChain(chain.config)
  const hex = (address: string) => chain.quoting.hexAddress(address)
  const setting = (name: string) => `quote: chains.${key}.${name}`
  const contracts = namedContracts(config)
  return {
    chainId: BigInt(config.chainId),
    multicall3: { setting: setting('multicall3'), address: config.multicall3 },
    contracts: contracts.flatMap(([name, address, ours]) => {
      if (address === undefined) return []
      return ours === undefined ? [{ setting: setting(name), address }] : []
    }),
    codes: expectedCodes(
      [
        { name: 'Depository', setting: `chains: ${key}.depository`, address: hex(chain.depository) },
        ...contracts.flatMap(([name, address, ours]) =>
          address === undefined || ours === undefined
            ? []
            : [{ name: ours, setting: setting(name), address }],
        ),
      ],
      { isKnown: ({ name }, code) => isKnownCode(name, code), codeHashes },
    ),
    feeds: [
      ...feedsOn(key, file).map(({ setting, feed: { address, description, decimals } }) => ({
        setting,
        address,
        description,
        decimals,
      })),
      ...(config.sequencerUptimeFeed === undefined
        ? []
        : [{ ...uptimeFeed, setting: setting('sequencerUptimeFeed'), address: config.sequencerUptimeFeed }]),
    ],
    tokens: [...chain.currencies.values()]
      .filter(({ isNative }) => !isNative)
      .map(({ symbol, address, decimals }) => ({
        setting: setting(`currencies.${symbol}`),
        address: hex(address),
        decimals,
      })),
    words: wordsOf(chain, setting, config),
  }
}

/** Contracts by the setting that names them; those of this project also with the name of their code. */
function namedContracts(
  config: ReturnType<typeof contractChain>,
): readonly (readonly [setting: string, address: Hex | undefined, ours?: ReliedContract])[] {
  const { uniswapV3: exchange, permitRouter, depositAddresses } = config
  return [
    ['wrappedNative', config.wrappedNative],
    ['fillContract', config.fillContract, 'FillContract'],
    ['cleanupRouter', config.cleanupRouter, 'CleanupRouter'],
    ['depositRouter', config.depositRouter, 'DepositRouter'],
    ['permitRouter.contract', permitRouter?.contract, 'PermitRouter'],
    ['permit2Router', config.permit2Router, 'Permit2Router'],
    ['depositAddresses.contract', depositAddresses?.contract, 'DepositAddresses'],
    ['feeModel.gasPriceOracle', config.feeModel.gasPriceOracle],
    ['uniswapV3.factory', exchange?.factory],
    ['uniswapV3.quoterV2', exchange?.quoterV2],
    ['uniswapV3.swapRouter', exchange?.swapRouter],
    ...(exchange?.pools ?? []).map(({ address }, index) => [`uniswapV3.pools[${index}]`, address] as const),
  ]
}

/** Storage words that the getters of a chain's contracts must return. */
function wordsOf(
  chain: QuotableChain,
  setting: (name: string) => string,
  config: ReturnType<typeof contractChain>,
): ContractExpectations['words'] {
  const { permitRouter, depositAddresses } = config
  return [
    ...depositoryWords(
      chain,
      setting('permitRouter.contract'),
      permitRouter && {
        contract: permitRouter.contract,
        codeHash: ['DEPOSIT_CODE_HASH', permitRouter.depositCodeHash],
      },
    ),
    ...depositoryWords(
      chain,
      setting('depositAddresses.contract'),
      depositAddresses && {
        contract: depositAddresses.contract,
        codeHash: ['SWEEP_CODE_HASH', depositAddresses.sweepCodeHash],
      },
    ),
    ...routerWords(setting('depositAddresses.contract'), config),
  ]
}

/** What every uptime feed answers about itself. @source Chainlink, SequencerUptimeFeed */
const uptimeFeed = { description: 'L2 Sequencer Uptime Status Feed', decimals: 0 } as const

/** The feeds that are read on a chain, each with the setting that names it. */
export function feedsOn(
  chain: string,
  { prices }: Pick<QuoteFile, 'prices'>,
): readonly { readonly setting: string; readonly feed: PriceFeed }[] {
  return prices.flatMap(({ key, feeds }) =>
    feeds.flatMap((feed, index) =>
      feed.chain === chain ? [{ setting: `quote: prices.${key}.feeds[${index}]`, feed }] : [],
    ),
  )
}

/** Checks a chain of a family without contract calls. */
async function networkProblems(
  { key, config }: QuotableChain,
  registeredChain: RegisteredChain | undefined,
  { client, environment }: { readonly client: ChainClient; readonly environment: string },
): Promise<readonly string[]> {
  const contradictions =
    registeredChain === undefined
      ? []
      : await networkContradictions(registeredChain, config, client, isOnThisMachine(environment))
  return contradictions.map(({ problem }) => `quote: chains.${key}: ${problem}`)
}

/** Deposit addresses must swap through the same deposit router as users. */
function routerWords(
  setting: string,
  { depositAddresses, depositRouter }: QuotableChain['config'],
): ContractExpectations['words'] {
  if (depositAddresses === undefined || depositRouter === undefined) return []
  return [{ setting, address: depositAddresses.contract, getter: 'depositRouter', word: depositRouter }]
}

/** A contract through which money goes must name the chain's depository, and the code hash that addresses are derived from. */
function depositoryWords(
  { depository, quoting }: QuotableChain,
  setting: string,
  router:
    | {
        readonly contract: Hex
        readonly codeHash: readonly ['DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH', Hex]
      }
    | undefined,
): ContractExpectations['words'] {
  if (router === undefined) return []
  const { contract: address, codeHash } = router
  const [getter, word] = codeHash
  return [
    { setting, address, getter: 'depository', word: quoting.hexAddress(depository) },
    { setting, address, getter, word },
  ]
}
