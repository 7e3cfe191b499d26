// A stand-in of Lighter: nonces, expiry, fees, ids and what the owner of an account signs are real.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, hexToBytes, Secret, sha256TextHex } from '@causeway/core'
import { lighterCodec } from '@causeway/core/encodings'
import {
  lighterTransferHasher,
  makeLighterKey,
  type PayingChain,
  type ReadableChain,
} from '@causeway/families'
import { FlatFees } from '@causeway/families/rules'
import {
  type Answer,
  createLighterExchange,
  type LighterExchange,
  type LighterNode,
  lighterBodies,
  startLighterNode,
} from '@causeway/localnet/standIns/lighter'
import type { ChainClient } from '@causeway/rpc'
import { privateKeyToAddress } from 'viem/accounts'
import { expiringProcesses, type PayerBench } from './payerBench.ts'
import { openSolverDatabases } from './solverDatabases.ts'

export const lighterChainId = 3_586_256
export const lighterWallet = '500'
export const lighterWalletKey = `0x${'5e'.repeat(32)}` as const
export const lighterKeyIndex = 4
const stranger = `0x${'ab'.repeat(20)}`
const depository = '723071'
const fees = new FlatFees({ transferFee: 3_000_000n })
const ceiling = 5_000_000n

/** Written again, so that a change of it, which forgets what was closed, is seen. */
const closingMemo = (id: Hex): Hex => `0x${sha256TextHex(`closed ${id}`).slice(-64)}`
const unknown = lighterBodies.notFound.body.transaction

export type LighterBench = Omit<PayerBench, 'process'> & {
  readonly exchange: LighterExchange
  readonly nodes: readonly LighterNode[]
  readonly client: ChainClient
  readonly apiKey: Secret
  readonly process: ReturnType<typeof expiringProcesses>
  /** Another process with the same key, which remembers nothing. */
  open(): PayingChain
  /** Has endpoints, by default one, answer in another way about paths that begin so. */
  lie(
    answers: Readonly<Record<string, (body: Record<string, unknown>) => object>>,
    nodes?: readonly LighterNode[],
  ): void
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

export async function startLighterBench(databases = openSolverDatabases()): Promise<LighterBench> {
  const exchange = lighterExchangeWithWallet()
  const nodes = await Promise.all([1, 2, 3].map(() => startLighterNode(0, exchange)))
  const chain: ReadableChain = {
    id: 'lighter',
    vmType: 'lighter-vm',
    network: undefined,
    hubChainId: '57',
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    depository,
    endpoints: nodes.map(({ url }) => new Secret(url)),
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const apiKey = new Secret(await makeLighterKey())
  const open = (): PayingChain => {
    const paying = payingFamily(chain)?.open({
      client,
      key: new Secret(lighterWalletKey),
      fillContract: undefined,
      depositories: [depository],
      account: { name: lighterWallet, apiKey, apiKeyIndex: lighterKeyIndex },
    })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  let [aheadMs, accounts] = [0, 20_000]
  exchange.nowMs = () => Date.now() + aheadMs
  const process = expiringProcesses({
    chainId: lighterChainId,
    landsWithinSeconds: 75,
    fees,
    ceiling,
    gasPerHour: 10n ** 12n,
    open,
    async expire() {
      aheadMs += 240_000
    },
  })
  const lie: LighterBench['lie'] = (answers, liars = nodes.slice(0, 1)) => {
    for (const node of liars)
      node.fault((asked, truth): Answer => {
        const rewrite = Object.entries(answers).find(([path]) => asked.startsWith(path))?.[1]
        if (rewrite === undefined) return truth
        const text = JSON.stringify(rewrite(JSON.parse(truth.text)))
        return { status: text === unknown ? 400 : 200, text }
      })
  }
  return {
    chain,
    exchange,
    nodes,
    client,
    apiKey,
    open,
    lie,
    process,
    database: databases.database,
    wallet: lighterWallet,
    chainId: lighterChainId,
    coin: lighterCodec.nativeCurrency,
    nowSeconds: async () => Math.floor(exchange.nowMs() / 1_000),
    held: async (account) => exchange.accounts.get(account)?.held.get('0') ?? 0n,
    account() {
      accounts += 1
      exchange.setAccount(`${accounts}`, stranger)
      return `${accounts}`
    },
    async mine() {},
    async settle() {},
    async land(raw) {
      await exchange.take(new TextDecoder().decode(hexToBytes(raw)))
    },
    faults: {
      hide: async ({ hash }) =>
        lie({
          '/api/v1/accountTxs': (body) => ({ ...body, txs: [] }),
          '/api/v1/nextNonce': (body) => ({ ...body, nonce: 0 }),
          [`/api/v1/tx?by=hash&value=${hash}`]: () => JSON.parse(unknown),
        }),
      async invent({ id, hash }, state) {
        const memo = [...Buffer.from((state === 'paid' ? id : closingMemo(id)).slice(2), 'hex')]
        const named = ({ info, ...one }: { info: string }) => ({
          ...one,
          info: JSON.stringify({ ...JSON.parse(info), Memo: memo }),
        })
        const made = { hash, status: 3, info: JSON.stringify({ Memo: memo, Nonce: 0 }) }
        lie({
          '/api/v1/accountTxs': (body) => ({ ...body, txs: Object(body['txs']).map(named) }),
          [`/api/v1/tx?by=hash&value=${hash}`]: () => ({ code: 200, ...made }),
        })
      },
      hasten: async () =>
        lie({ '/': (body) => ('timestamp' in body ? { ...body, timestamp: 9_999_999_999 } : body) }),
      async silence(count) {
        for (const node of nodes.slice(0, count)) node.cutOff(true)
      },
      async garble() {
        // Ids of payments are in no question: what is not there yet is what makes no sense.
        for (const node of nodes)
          node.fault((path, truth) =>
            path.startsWith('/api/v1/tx?') && truth.status === 400
              ? { status: 200, text: '"nonsense"' }
              : truth,
          )
      },
      async heal() {
        for (const node of nodes) {
          node.cutOff(false)
          node.fault(undefined)
        }
      },
    },
    async stop() {
      await Promise.all([client.close(), ...nodes.map((node) => node.stop()), databases.stop()])
    },
  }
}
