import {
  type ContractExpectations,
  checkContracts,
  checkLocalNodes,
  expectedCodes,
  type JsonRpcClient,
  type RegisteredChain,
  type ReliedContract,
} from '@causeway/chains'
import { isKnownCode } from '@causeway/contracts/codes'
import { ConfigurationError, DomainError, type Hex, type QuoteFile } from '@causeway/core'
import type { MarketLog } from '@causeway/market'
import type { QuotableChain, QuoteRegistry } from '../pricing/registry.ts'

/**
 * Compares every reachable chain with its configuration: chain id, code, feeds, token decimals. A
 * chain that does not answer starts unready and is priced once it does.
 * @throws ConfigurationError naming every setting that a chain contradicts
 */
export async function checkChains(args: {
  environment: string
  file: QuoteFile
  registry: QuoteRegistry
  chains: ReadonlyMap<string, RegisteredChain>
  clients: ReadonlyMap<string, JsonRpcClient>
  log: MarketLog
}): Promise<void> {
  const { environment, registry, chains, clients, file, log } = args
  const problems = [...(await checkLocalNodes(environment, [...clients.values()]))]
  await Promise.all(
    registry.chains.map(async (chain) => {
      const client = clients.get(chain.key)
      if (client === undefined) return
      try {
        problems.push(
          ...(await checkContracts(client, expectations(chain, file, chains.get(chain.key)?.codeHashes))),
        )
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        log.warn({ chain: chain.key, err: error }, 'chain could not be checked at start')
      }
    }),
  )
  if (problems.length > 0)
    throw new ConfigurationError(`Chains contradict the configuration:\n- ${problems.join('\n- ')}`)
}

function expectations(
  chain: QuotableChain,
  file: QuoteFile,
  codeHashes: RegisteredChain['codeHashes'],
): ContractExpectations {
  const { key, config } = chain
  const hex = (address: string) => chain.quoting.hexAddress(address)
  const setting = (name: string) => `quote: chains.${key}.${name}`
  const { uniswapV3: exchange, permitRouter, depositAddresses } = config
  const contracts: readonly (readonly [string, Hex | undefined, ReliedContract?])[] = [
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
  return {
    chainId: BigInt(config.chainId),
    multicall3: { setting: setting('multicall3'), address: config.multicall3 },
    contracts: [
      ...contracts.flatMap(([name, address, ours]) => {
        if (address === undefined) return []
        return ours === undefined ? [{ setting: setting(name), address }] : []
      }),
    ],
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
    feeds: file.prices.flatMap(({ feeds, key: priceKey }) =>
      feeds
        .filter((feed) => feed.chain === key)
        .map(({ address, description, decimals }) => ({
          setting: `quote: prices.${priceKey}`,
          address,
          description,
          decimals,
        })),
    ),
    tokens: [...chain.currencies.values()]
      .filter(({ isNative }) => !isNative)
      .map(({ symbol, address, decimals }) => ({
        setting: setting(`currencies.${symbol}`),
        address: hex(address),
        decimals,
      })),
    words: [
      ...madeFor(
        chain,
        setting('permitRouter.contract'),
        permitRouter && {
          contract: permitRouter.contract,
          codeHash: ['DEPOSIT_CODE_HASH', permitRouter.depositCodeHash],
        },
      ),
      ...madeFor(
        chain,
        setting('depositAddresses.contract'),
        depositAddresses && {
          contract: depositAddresses.contract,
          codeHash: ['SWEEP_CODE_HASH', depositAddresses.sweepCodeHash],
        },
      ),
      ...swapsBy(setting('depositAddresses.contract'), config),
    ],
  }
}

/** What lies at deposit addresses is swapped where users swap. */
function swapsBy(
  setting: string,
  { depositAddresses, depositRouter }: QuotableChain['config'],
): ContractExpectations['words'] {
  if (depositAddresses === undefined || depositRouter === undefined) return []
  return [{ setting, address: depositAddresses.contract, getter: 'depositRouter', word: depositRouter }]
}

/** Money goes where these say: the chain's own depository, by the code that addresses were derived from. */
function madeFor(
  { depository, quoting }: QuotableChain,
  setting: string,
  made:
    | {
        readonly contract: Hex
        readonly codeHash: readonly ['DEPOSIT_CODE_HASH' | 'SWEEP_CODE_HASH', Hex]
      }
    | undefined,
): ContractExpectations['words'] {
  if (made === undefined) return []
  const { contract: address, codeHash } = made
  const [getter, word] = codeHash
  return [
    { setting, address, getter: 'depository', word: quoting.hexAddress(depository) },
    { setting, address, getter, word },
  ]
}
