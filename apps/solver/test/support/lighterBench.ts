// A stand-in of Lighter behind one endpoint that faults are put into: nonces, expiry, fees, ids and what the owner of an
// account signs are real.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { hexToBytes, Secret } from '@causeway/core'
import { lighterCodec } from '@causeway/core/encodings'
import {
  lighterTransferHasher,
  makeLighterKey,
  type PayingChain,
  type RegisteredChain,
} from '@causeway/families'
import { FlatFees } from '@causeway/families/rules'
import {
  createLighterExchange,
  type LighterExchange,
  startLighterNode,
} from '@causeway/localnet/standIns/lighter'
import type { ChainClient } from '@causeway/rpc'
import { privateKeyToAddress } from 'viem/accounts'
import type { ExpiringBench } from './expiringKills.ts'
import { type Processes, startProcesses } from './expiringProcess.ts'

export const lighterChainId = 3_586_256
export const lighterWallet = '500'
export const lighterWalletKey = `0x${'5e'.repeat(32)}` as const
export const lighterKeyIndex = 4
const stranger = `0x${'ab'.repeat(20)}`
const depository = '723071'
const fees = new FlatFees({ transferFee: 3_000_000n })
const ceiling = 5_000_000n

export type LighterBench = Omit<ExpiringBench, 'process'> & {
  readonly exchange: LighterExchange
  readonly process: Processes['process']
  open(): PayingChain
  stop(): Promise<void>
}

/** An exchange on which a fill wallet has a hundred thousand dollars. @param lighterChainId default: the main network's */
export function lighterExchangeWithWallet(chainId = 304n): LighterExchange {
  const exchange = createLighterExchange({
    lighterChainId: chainId,
    hashTransfer: () => lighterTransferHasher(chainId),
  })
  exchange.setAccount(depository, stranger)
  exchange.setAccount(lighterWallet, privateKeyToAddress(lighterWalletKey), {
    '0': 100_000_000_000n,
    '1': 10_000_000_000n,
  })
  return exchange
}

export async function startLighterBench(): Promise<LighterBench> {
  const exchange = lighterExchangeWithWallet()
  const node = await startLighterNode(0, exchange)
  const chain: RegisteredChain = {
    ...{ id: 'lighter', vmType: 'lighter-vm', network: undefined, hubChainId: '57', additionalData: {} },
    ...{ ready: true, rpcThreshold: 1, unsetVariables: [], depository, endpoints: [new Secret(node.url)] },
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const apiKey = new Secret(await makeLighterKey())
  const open = (): PayingChain => {
    const paying = payingFamily(chain)?.open({
      ...{ client, key: new Secret(lighterWalletKey), fillContract: undefined },
      account: { name: lighterWallet, apiKey, apiKeyIndex: lighterKeyIndex },
    })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  const processes = await startProcesses({
    ...{ chainId: lighterChainId, landsWithinSeconds: 75, fees, ceiling, gasPerHour: 10n ** 12n, open },
  })
  let aheadMs = 0
  exchange.nowMs = () => Date.now() + aheadMs
  let accounts = 20_000
  return {
    ...{ exchange, open, wallet: lighterWallet, chainId: lighterChainId, bid: { fees, ceiling } },
    ...{ coin: lighterCodec.nativeCurrency, database: processes.database, process: processes.process },
    // The exchange refuses an impossible transaction, so no block shows it.
    showsFailures: false,
    nowSeconds: async () => Math.floor(exchange.nowMs() / 1_000),
    held: async (account) => exchange.accounts.get(account)?.held.get('0') ?? 0n,
    account() {
      accounts += 1
      exchange.setAccount(`${accounts}`, stranger)
      return `${accounts}`
    },
    settle: async () => undefined,
    async expire() {
      aheadMs += 240_000
    },
    async land(raw) {
      await exchange.take(new TextDecoder().decode(hexToBytes(raw)))
    },
    cutOff: async (isCutOff) => node.cutOff(isCutOff),
    async garble(id) {
      // Ids of payments are in no question: what is not there yet is what makes no sense.
      node.fault(
        id === undefined
          ? undefined
          : (path, truth) =>
              path.startsWith('/api/v1/tx?') && truth.status === 400
                ? { status: 200, text: '"nonsense"' }
                : truth,
      )
    },
    async stop() {
      await client.close()
      await Promise.all([node.stop(), processes.stop()])
    },
  }
}
