import { linePayingFamily } from '@causeway/chains'
import { type Hex, hexToBytes, Secret } from '@causeway/core'
import type { GasBudgets } from '@causeway/core/config'
import { bitcoinNetworkOf, createBitcoinCodec } from '@causeway/core/encodings'
import type { LinePayingChain, RegisteredChain } from '@causeway/families'
import { lineWallet } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import {
  type BitcoinNode,
  ConstructedChain,
  funded,
  keyOf,
  startBitcoinNode,
  transactionOf,
} from '@causeway/localnet/standIns/bitcoin'
import { type BudgetName, spentWithinHour } from '../../src/wallet/budgets.ts'
import type { ChainDesk } from '../../src/wallet/chainDesk.ts'
import { LineStrategy } from '../../src/wallet/lineStrategy.ts'
import { PaymentDesk } from '../../src/wallet/paymentDesk.ts'
import { createRecords, type Records } from '../../src/wallet/records.ts'
import type { KeptRecord } from '../../src/wallet/signedRecord.ts'
import { connectProcess, startSolverDatabases } from './solverDatabases.ts'

export const bitcoinChainId = 8_253_038
export const bitcoinNow = 1_700_000_000
export const lineCoins = 10n ** 8n
const satPerKvb = 2_000n
export const bitcoinCoin = createBitcoinCodec(bitcoinNetworkOf('regtest')).nativeCurrency
const walletKey: Hex = `0x${'5e'.repeat(32)}`
const confirmations = 3
export const bumpAfterMs = 60_000

/** Parts of a solver process on Bitcoin, without the rest of it. */
export type BitcoinProcess = {
  readonly desk: ChainDesk
  /** Balance at the end of the line. */
  left(): Promise<bigint>
  readonly paying: LinePayingChain
  readonly records: Records
  spent(budget: BudgetName): Promise<bigint>
  /** So much time passes for this process alone. */
  wait(ms: number): void
  /** Sets the market's fee rate. */
  price(satPerKvb: bigint): void
  /** Its connections end, as those of a process that was killed. */
  kill(): Promise<void>
}

type ProcessOptions = {
  readonly waits?: boolean
  readonly gas?: Partial<GasBudgets> & { readonly gatherBelow?: bigint }
  /** Has what the process keeps go through something else. */
  readonly through?: (records: Records) => Records
}

/** A chain with the mempool rules of nodes, three nodes that show it, and a database server. */
export type BitcoinBench = {
  chain(): ConstructedChain
  readonly nodes: readonly BitcoinNode[]
  /** A chain of its own for the test that asks. */
  begin(): void
  readonly script: Uint8Array
  database(): Promise<string>
  process(databaseUrl: string, options?: ProcessOptions): Promise<BitcoinProcess>
  /** In blocks. */
  received(script: Uint8Array): bigint
  /** A block with what waits, and as many as make it final. */
  settle(): void
  /** No node takes a transaction while this runs: what is sent is lost on its way. */
  withoutSending<Result>(run: () => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

export const recipientOf = (name: string) => keyOf(name).witness

/** Rounds over the records, with a service that agrees to everything. */
export async function rounds({ desk }: Pick<BitcoinProcess, 'desk'>, times = 3): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    for (const record of await desk.advance())
      if (record.release === 'asked') await desk.release(record, 'given')
    for (const replacement of await desk.replaced()) {
      const record = await desk.beginTelling(replacement)
      await desk.releaseReplacement({ ...replacement, record }, 'accepted')
    }
  }
}

/** All that was ever signed is sent by somebody, in every order, and mined as far as it can be. */
export function sendAll(bench: BitcoinBench, ...records: readonly (KeptRecord | undefined)[]): void {
  const all = records.flatMap((record) =>
    record !== undefined && 'line' in record ? [...record.transactions, ...record.cancellations] : [],
  )
  for (const list of [all, [...all].reverse()])
    for (const { raw } of list) bench.chain().offer(transactionOf(raw))
  bench.settle()
}

export async function startBitcoinBench(): Promise<BitcoinBench> {
  let chain = new ConstructedChain()
  const nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(chain)))
  const { script, address } = lineWallet(hexToBytes(walletKey), bitcoinNetworkOf('regtest'))
  let first = { txid: '', vout: 0 }
  const databases = await startSolverDatabases()
  const registered: RegisteredChain = {
    ...{ id: 'bitcoin', vmType: 'bitcoin-vm', network: 'regtest', hubChainId: '7', additionalData: {} },
    ...{ ready: true, rpcThreshold: 2, unsetVariables: [], depository: keyOf('depository').legacy.address },
    finality: { mode: 'depth', blocks: confirmations },
    endpoints: nodes.map((node) => new Secret(node.url('node'))),
  }
  const blocks = () => Array.from({ length: chain.tipHeight + 1 }, (_, height) => chain.blockAt(height))

  return {
    chain: () => chain,
    ...{ nodes, script },
    begin() {
      chain = new ConstructedChain()
      const coins = funded({ script, value: lineCoins })
      chain.mine(coins)
      chain.mineEmpty(confirmations)
      first = { txid: coins.getId(), vout: 0 }
      for (const node of nodes) {
        node.show(chain)
        node.fault(undefined)
      }
    },
    database: databases.database,
    async process(connectionString, { waits = true, gas = {}, through = (one: Records) => one } = {}) {
      let [nowMs, price] = [bitcoinNow * 1_000, satPerKvb]
      const paying = linePayingFamily(registered)?.open({
        ...{ chain: registered, key: new Secret(walletKey), firstOutput: first, nowMs: () => nowMs },
      })
      if (paying === undefined) throw new Error('the family pays')
      const job = `fill-wallet:${address}:${bitcoinChainId}`
      const { database, leadership, kill } = connectProcess(connectionString, job, () => paying.close())
      const records = through(createRecords(database))
      const { gatherBelow, ...budgets } = gas
      const strategy = new LineStrategy({
        ...{ chainId: bitcoinChainId, paying, records, marketFees: () => price, nowMs: () => nowMs },
        rules: { maxFeePerGasWei: 50_000n, bumpAfterMs, gatherBelow },
      })
      const desk = new PaymentDesk(strategy, {
        ...{ records, leadership, log: () => undefined },
        rules: {
          ...{ gasPerHourWei: 10n ** 6n, refundGasPerHourWei: 10n ** 6n, relayGasPerHourWei: 0n },
          ...budgets,
        },
      })
      if (waits) await waitUntil('the lease is won', () => desk.leads())
      return {
        ...{ desk, paying, records, kill, left: () => strategy.left() },
        spent: (budget) => spentWithinHour(database, budget),
        wait(ms) {
          nowMs += ms
        },
        price(next) {
          price = next
        },
      }
    },
    received: (wanted) =>
      blocks()
        .flatMap((block) => block?.transactions ?? [])
        .flatMap(({ outs }) => outs)
        .filter((output) => Buffer.compare(output.script, wanted) === 0)
        .reduce((sum, { value }) => sum + value, 0n),
    settle() {
      chain.mineWaiting()
      chain.mineEmpty(confirmations)
    },
    async withoutSending(run) {
      for (const node of nodes)
        node.fault((what, answer) => (what === 'sendrawtransaction' ? { status: 503, text: 'lost' } : answer))
      try {
        return await run()
      } finally {
        for (const node of nodes) node.fault(undefined)
      }
    },
    stop: async () => {
      await Promise.all([...nodes.map((node) => node.stop()), databases.stop()])
    },
  }
}
