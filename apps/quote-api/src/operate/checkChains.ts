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
      const client = clients.get(chain.key)
      if (client === undefined) return []
      const registeredChain = chains.get(chain.key)
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

/** Names a member of the chain in the quote file, as findings show it. */
type SettingOf = (member: string) => string

/**
 * Statements of the files about a chain that contract calls can confirm. `codes`: contracts of this project,
 * which must have a known code, or one of `codeHashes`. `contracts`: all others, at which some code must
 * stand. `words`: answers of getters.
 */
export function expectations(
  chain: QuotableChain,
  file: QuoteFile,
  codeHashes: RegisteredChain['codeHashes'],
): ContractExpectations {
  const { key, quoting } = chain
  const config = contractChain(chain.config)
  const setting: SettingOf = (member) => `quote: chains.${key}.${member}`
  const contracts = namedContracts(config, setting)
  const ownContracts = contracts.flatMap(({ codeName: name, ...contract }) =>
    name === undefined ? [] : [{ name, ...contract }],
  )
  const otherContracts = contracts.flatMap(({ codeName, ...contract }) =>
    codeName === undefined ? [contract] : [],
  )
  const depository = {
    name: 'Depository',
    setting: `chains: ${key}.depository`,
    address: quoting.hexAddress(chain.depository),
  } as const
  return {
    chainId: BigInt(config.chainId),
    multicall3: { setting: setting('multicall3'), address: config.multicall3 },
    contracts: otherContracts,
    codes: expectedCodes([depository, ...ownContracts], {
      isKnown: ({ name }, code) => isKnownCode(name, code),
      codeHashes,
    }),
    feeds: expectedFeeds(key, file, config.sequencerUptimeFeed, setting),
    tokens: [...chain.currencies.values()]
      .filter(({ isNative }) => !isNative)
      .map(({ symbol, address, decimals }) => ({
        setting: setting(`currencies.${symbol}`),
        address: quoting.hexAddress(address),
        decimals,
      })),
    words: expectedWords(depository.address, config, setting),
  }
}

type ContractChainConfig = ReturnType<typeof contractChain>

/** A contract of the quote file. `codeName` is set for contracts of this project: their code is known. */
type NamedContract = {
  readonly setting: string
  readonly address: Hex
  readonly codeName: ReliedContract | undefined
}

function namedContracts(config: ContractChainConfig, setting: SettingOf): readonly NamedContract[] {
  const { uniswapV3: exchange, permitRouter, depositAddresses } = config
  const entries: readonly (readonly [member: string, address: Hex | undefined, codeName?: ReliedContract])[] =
    [
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
  return entries.flatMap(([member, address, codeName]) =>
    address === undefined ? [] : [{ setting: setting(member), address, codeName }],
  )
}

function expectedFeeds(
  key: string,
  file: QuoteFile,
  uptimeFeedAddress: Hex | undefined,
  setting: SettingOf,
): ContractExpectations['feeds'] {
  const priceFeeds = feedsOn(key, file).map(({ feed: { address, description, decimals }, ...named }) => ({
    ...named,
    address,
    description,
    decimals,
  }))
  if (uptimeFeedAddress === undefined) return priceFeeds
  return [
    ...priceFeeds,
    { ...uptimeFeed, setting: setting('sequencerUptimeFeed'), address: uptimeFeedAddress },
  ]
}

/**
 * Storage words that getters of contracts must return. A contract through which money goes must name the chain's
 * depository, and the code hash that addresses are derived from.
 */
function expectedWords(
  depository: Hex,
  { permitRouter, depositAddresses, depositRouter }: ContractChainConfig,
  setting: SettingOf,
): ContractExpectations['words'] {
  const words: ContractExpectations['words'][number][] = []
  if (permitRouter !== undefined) {
    const contract = { setting: setting('permitRouter.contract'), address: permitRouter.contract }
    words.push({ ...contract, getter: 'depository', word: depository })
    words.push({ ...contract, getter: 'DEPOSIT_CODE_HASH', word: permitRouter.depositCodeHash })
  }
  if (depositAddresses !== undefined) {
    const contract = { setting: setting('depositAddresses.contract'), address: depositAddresses.contract }
    words.push({ ...contract, getter: 'depository', word: depository })
    words.push({ ...contract, getter: 'SWEEP_CODE_HASH', word: depositAddresses.sweepCodeHash })
    // Deposit addresses must swap through the same deposit router as users.
    if (depositRouter !== undefined) words.push({ ...contract, getter: 'depositRouter', word: depositRouter })
  }
  return words
}

/** Every uptime feed answers this about itself. @source Chainlink, SequencerUptimeFeed */
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
