import { EthereumFees, type NetworkFees } from '@causeway/families/rules'
import {
  type FaultProxy,
  setBaseFee,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import type { MarketSnapshot } from '@causeway/market'
import { startTestService, type TestService } from '../fixtures/service.ts'
import { type ConfigCopy, copyConfigs } from './configCopy.ts'
import type { UserChain } from './localRequest.ts'

/**
 * The real service over chains that stand still: only what a test sends makes a block, so base fees do
 * not drift and every figure can be computed. A proxy before each chain counts what the service asks.
 */
export type StillService = {
  readonly network: TestNetwork
  readonly service: TestService
  readonly url: string
  /** Gives both chains blocks of this base fee and waits until the service prices with it. */
  settle(baseFeeWei: bigint): Promise<void>
  /**
   * Waits until the market shows something; half a minute only ends a test that would hang.
   * @returns how many refreshes of the chain had begun by then, counted from the call
   */
  refreshesUntil(chain: UserChain, shows: (snapshot: MarketSnapshot) => boolean): Promise<number>
  stop(): Promise<void>
}

export async function startStillService(
  overrides: Readonly<Record<string, string>> = {},
): Promise<StillService> {
  const network = await startTestNetwork()
  const configs = await copyConfigs()
  // A chain that stands still on purpose is not stale.
  await configs.replace('quote.local.json', '"headMaxAgeMs": 15000', '"headMaxAgeMs": 3600000')
  const proxies = {
    base: await startFaultProxy({ targetUrl: network.chains.base.url }),
    optimism: await startFaultProxy({ targetUrl: network.chains.optimism.url }),
  }
  const service = await startTestService(network, {
    CONFIG_DIR: configs.directory,
    BASE_RPC_URL: proxies.base.url,
    OPTIMISM_RPC_URL: proxies.optimism.url,
    ...overrides,
  })
  const { publicUrl } = await service.listen()
  const refreshesUntil: StillService['refreshesUntil'] = (chain, shows) =>
    countRefreshes(service, proxies[chain], shows)
  return {
    network,
    service,
    url: publicUrl,
    refreshesUntil,
    async settle(baseFeeWei) {
      await Promise.all(
        (['base', 'optimism'] as const).map(async (chain) => {
          const { chain: node } = network.chains[chain]
          await setBaseFee(node, baseFeeWei)
          const head = await node.client.getBlockNumber()
          await refreshesUntil(chain, (snapshot) => {
            const market = snapshot.chain(node.chainId)
            if ('reason' in market) return false
            // The fee alone may be that of an earlier call, before a refresh that saw the block half made.
            return (
              market.head.number >= head &&
              evmFees(market.fees).gasPrice.expectedWei === gasPriceAfter(baseFeeWei)
            )
          })
        }),
      )
    },
    async stop() {
      await stopAll(service, network, configs, Object.values(proxies))
    },
  }
}

/**
 * Gas fees after an empty block of this base fee: the next block's fee is an eighth lower, and tips are not paid here,
 * so the tip is the configured minimum of 1 wei. @source EIP-1559
 */
/** @throws Error for fees of another family */
export function evmFees(fees: NetworkFees): EthereumFees {
  if (!(fees instanceof EthereumFees)) throw new Error('a local chain charges gas')
  return fees
}

export function gasPriceAfter(baseFeeWei: bigint): bigint {
  return baseFeeWei - baseFeeWei / 8n + 1n
}

function countRefreshes(
  { market }: TestService,
  proxy: FaultProxy,
  shows: (snapshot: MarketSnapshot) => boolean,
): Promise<number> {
  proxy.resetCounters()
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => {
      stopListening()
      reject(new Error('the market never showed it'))
    }, 30_000)
    const look = (snapshot: MarketSnapshot) => {
      if (!shows(snapshot)) return
      stopListening()
      clearTimeout(giveUp)
      // Each refresh asks for the fee history exactly once.
      resolve(proxy.counters().callsByMethod['eth_feeHistory'] ?? 0)
    }
    const stopListening = market.onChange(look)
    look(market.snapshot())
  })
}

async function stopAll(
  service: TestService,
  network: TestNetwork,
  configs: ConfigCopy,
  proxies: readonly FaultProxy[],
): Promise<void> {
  await service.stop()
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  await network.stop()
  await configs.remove()
}
