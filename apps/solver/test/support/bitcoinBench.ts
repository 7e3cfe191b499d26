import { linePayingFamily } from '@causeway/chains'
import { type Hex, hexToBytes, Secret } from '@causeway/core'
import { bitcoinNetworkOf, createBitcoinCodec } from '@causeway/core/encodings'
import type { LinePayingChain, ReadableChain } from '@causeway/families'
import { lineWallet, type OutPoint, outputScript } from '@causeway/families/rules'
import {
  type BitcoinNode,
  ConstructedChain,
  fundingTransaction,
  keyOf,
  startBitcoinNode,
  transactionOf,
} from '@causeway/localnet/standIns/bitcoin'
import { createMarkedRecord } from '../../src/facts/paymentRecord.ts'
import { LineStrategy } from '../../src/wallet/lineStrategy.ts'
import type { Records } from '../../src/wallet/records.ts'
import type { KeptRecord } from '../../src/wallet/signedRecord.ts'
import { openProcess, type PayerBench, type PayerProcess, type ProcessOptions } from './payerBench.ts'
import { openSolverDatabases } from './solverDatabases.ts'

export const bitcoinChainId = 8_253_038
export const bitcoinNow = 1_700_000_000
export const lineCoins = 10n ** 8n
const satPerKvb = 2_000n
export const bitcoinCoin = createBitcoinCodec(bitcoinNetworkOf('regtest')).nativeCurrency
const walletKey: Hex = `0x${'5e'.repeat(32)}`
const confirmations = 3
export const bumpAfterMs = 60_000

export type BitcoinProcess = PayerProcess & {
  /** Balance at the end of the line. */
  left(): Promise<bigint>
  readonly paying: LinePayingChain
  /** So much time passes for this process alone. */
  wait(ms: number): void
  /** Sets the market's fee rate. */
  price(satPerKvb: bigint): void
}

/** A chain with the mempool rules of nodes, and nodes that show it. */
export type BitcoinBench = Omit<PayerBench, 'process'> & {
  bitcoin(): ConstructedChain
  readonly nodes: readonly BitcoinNode[]
  /** A chain of its own for the test that asks. */
  begin(): void
  readonly script: Uint8Array
  process(
    databaseUrl: string,
    options?: ProcessOptions & { readonly gatherBelow?: bigint },
  ): Promise<BitcoinProcess>
  /** In blocks. */
  received(script: Uint8Array): bigint
}

export const recipientOf = (name: string) => keyOf(name).witness

/** All that was ever signed is sent by somebody, in every order, and mined as far as it can be. */
export async function sendAll(
  bench: BitcoinBench,
  ...records: readonly (KeptRecord | undefined)[]
): Promise<void> {
  const all = records.flatMap((record) =>
    record !== undefined && 'line' in record ? [...record.transactions, ...record.cancellations] : [],
  )
  for (const list of [all, [...all].reverse()]) for (const { raw } of list) await bench.land(raw)
  await bench.settle()
}

type Transaction = ReturnType<typeof transactionOf>

/** Sum of the outputs of a script. @param isSpent of those that another one spends */
function sumOf(transactions: readonly Transaction[], script: Uint8Array, isSpent = false): bigint {
  const spent = new Set(
    transactions.flatMap(({ ins }) =>
      ins.map(({ hash, index }) => `${Buffer.from(hash).reverse().toString('hex')}:${index}`),
    ),
  )
  return transactions
    .flatMap((one) => one.outs.map((out, index) => ({ ...out, place: `${one.getId()}:${index}` })))
    .filter((out) => Buffer.compare(out.script, script) === 0 && (!isSpent || spent.has(out.place)))
    .reduce((sum, { value }) => sum + value, 0n)
}

/** One node shows no transaction of this hash, and what it spent as unspent. */
function hideFrom(node: BitcoinNode | undefined, hash: string): void {
  node?.fault((what, { text }) => {
    const { id, ...truth } = JSON.parse(text)
    const says = (answer: object) => ({ status: 200, text: JSON.stringify({ ...answer, id }) })
    if (what === 'gettxout') return says({ result: { confirmations: 1 }, error: null })
    const unknown = { code: -5, message: 'No such mempool or blockchain transaction.' }
    const isOfIt = what === 'getrawtransaction' && text.includes(hash)
    return says(isOfIt ? { result: null, error: unknown } : truth)
  })
}

export async function startBitcoinBench(databases = openSolverDatabases()): Promise<BitcoinBench> {
  let chain = new ConstructedChain()
  const nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(chain)))
  const { script, address } = lineWallet(hexToBytes(walletKey), bitcoinNetworkOf('regtest'))
  let [first, accounts] = [{ txid: '', vout: 0 }, 0]
  const registered: ReadableChain = {
    id: 'bitcoin',
    vmType: 'bitcoin-vm',
    network: 'regtest',
    hubChainId: '7',
    additionalData: {},
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    depository: keyOf('depository').legacy.address,
    finality: { mode: 'depth', blocks: confirmations },
    endpoints: nodes.map((node) => new Secret(node.url('node'))),
  }
  const mined = () =>
    Array.from({ length: chain.tipHeight + 1 }, (_, height) => chain.blockAt(height)).flatMap(
      (block) => block?.transactions ?? [],
    )

  function begin() {
    chain = new ConstructedChain()
    const coins = fundingTransaction({ script, value: lineCoins })
    chain.mine(coins)
    chain.mineEmpty(confirmations)
    first = { txid: coins.getId(), vout: 0 }
    showAll()
  }
  function showAll() {
    for (const node of nodes) {
      node.show(chain)
      node.fault(undefined)
    }
  }
  begin()

  return {
    chain: registered,
    chainId: bitcoinChainId,
    coin: bitcoinCoin,
    wallet: address,
    bitcoin: () => chain,
    received: (wanted) => sumOf(mined(), wanted),
    nodes,
    script,
    begin,
    database: databases.database,
    async process(connectionString, options = {}) {
      const opened = await openLine(registered, first, connectionString, options)
      const age = async () => {
        opened.wait(bumpAfterMs)
        chain.mine()
      }
      return { ...opened, age }
    },
    account() {
      accounts += 1
      return recipientOf(`account ${accounts}`).address
    },
    async held(account) {
      const own = outputScript(account, bitcoinNetworkOf('regtest'))
      return sumOf(mined(), own) - sumOf(mined(), own, true)
    },
    nowSeconds: async () => chain.timeAt(chain.tipHeight),
    async hold() {},
    mine: async () => void chain.mineWaiting(),
    async settle() {
      chain.mineWaiting()
      chain.mineEmpty(confirmations)
    },
    land: async (raw) => void chain.offer(transactionOf(raw)),
    faults: {
      hide: async ({ hash }) => hideFrom(nodes[0], hash),
      async silence(count) {
        for (const node of nodes.slice(0, count)) {
          // What is sent to it reaches nobody.
          node.show(new ConstructedChain())
          node.fault(() => ({ status: 503, text: 'silent' }))
        }
      },
      heal: async () => showAll(),
    },
    stop: async () => {
      await Promise.all([...nodes.map((node) => node.stop()), databases.stop()])
    },
  }
}

async function openLine(
  chain: ReadableChain,
  firstOutput: OutPoint,
  connectionString: string,
  options: Parameters<BitcoinBench['process']>[1] & {},
): Promise<Omit<BitcoinProcess, 'age'>> {
  const { ceiling: maxFeePerGasWei = 50_000n, gatherBelow } = options
  let [nowMs, price] = [bitcoinNow * 1_000, satPerKvb]
  const paying = linePayingFamily(chain)?.open({
    chain,
    key: new Secret(walletKey),
    firstOutput,
    nowMs: () => nowMs,
  })
  if (paying === undefined) throw new Error('the family pays')
  let strategy: LineStrategy | undefined
  const strategyOf = (records: Records) => {
    strategy = new LineStrategy({
      chainId: bitcoinChainId,
      paying,
      records,
      marketFees: () => price,
      nowMs: () => nowMs,
      rules: { maxFeePerGasWei, bumpAfterMs, gatherBelow },
    })
    return strategy
  }
  const { address, close } = { address: paying.address, close: () => paying.close() }
  const place = { chainId: bitcoinChainId, address, gasPerHour: 10n ** 6n, strategyOf, close }
  const wait = (ms: number) => {
    nowMs += ms
  }
  return {
    ...(await openProcess(connectionString, place, options)),
    paying,
    wait,
    record: createMarkedRecord(paying),
    left: async () => strategy?.left() ?? 0n,
    price(next) {
      price = next
    },
  }
}
