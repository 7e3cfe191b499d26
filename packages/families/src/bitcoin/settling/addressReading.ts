import { DomainError, UpstreamUnavailableError } from '@causeway/core'
import { type BitcoinNetwork, createBitcoinCodec } from '@causeway/core/encodings'
import type { ChainClient, EndpointView, QuorumClient } from '@causeway/rpc'
import { agreeOn } from '@causeway/rpc'
import type { AddressPayments, AddressReading, PassRange } from '../../shared/settlingChain.ts'
import { createBitcoindView } from '../reading/bitcoindView.ts'
import { namedOutputs, sweptOutputs } from '../rules/depositAddress.ts'
import type { OwnOutput } from '../rules/paying/lineTransaction.ts'
import { outputScript, scriptAddress } from '../rules/script.ts'
import { coinbaseId } from '../rules/transaction.ts'
import { readBlockRange } from './depositPass.ts'
import { readTransactions } from './readFee.ts'

/**
 * Few blocks at a time, because Bitcoin's are rare and large; each is read whole, so none is listed late.
 * Twelve blocks are two hours: a reorganization replaces far fewer. The first scan begins `firstBlocks` back.
 */
const steps = { rangeBlocks: 6n, rewindBlocks: 12n, firstBlocks: 6n, lateBlocks: 0n }
/** Time spent in failed readings after which no further address is tried. */
const failedMsMax = 10_000
/** Most transactions of one request, because a payment may spend a thousand inputs. */
const transactionsAtOnce = 50

type Sources = {
  readonly client: ChainClient
  readonly endpoints: QuorumClient<EndpointView>
  readonly network: BitcoinNetwork
}

/**
 * Payments to deposit addresses, read in two ways. Whole blocks are scanned, so that the number of addresses costs
 * nothing. A single address is read by its outputs: APIs list them, and nodes decide which are final and unspent.
 */
export function createAddressReading(sources: Sources): AddressReading {
  const { endpoints, network } = sources
  const { nativeCurrency } = createBitcoinCodec(network)
  return {
    // The fill wallet sweeps final outputs only.
    needsFinal: true,
    blocks: {
      steps,
      // Balances need not be checked in turn: every payment is an output in some block.
      showsAll: true,
      async payments(range, signal) {
        const read = (view: EndpointView, viewSignal: AbortSignal) =>
          readPaid(view, range, network, viewSignal)
        const { known, last, paid } = await agreeOn(endpoints, read, signal)
        const payments = paid.map(([to, amount]) => ({ to, currency: nativeCurrency, amount }))
        // Blocks show every payment, so no address need be read because it is named.
        return { known, last, payments, named: [] }
      },
    },
    // `currency`: the chain's only one, or undefined if it is not quoted. An address that holds nothing has
    // an empty map, one that could not be read has undefined.
    held: (addresses, { currencies: [currency], height }, signal) =>
      readEachAddress(addresses, signal, async (address) => {
        const outputs = await sweepableOutputs(sources, { address, height }, signal)
        const amount = outputs.reduce((sum, { value }) => sum + value, 0n)
        return currency === undefined || amount === 0n ? new Map() : new Map([[currency.address, amount]])
      }),
    async payers(address, { height }, signal) {
      const outputs = await sweepableOutputs(sources, { address, height }, signal)
      return payersOf(sources, [...new Set(outputs.map(({ txid }) => txid))], signal)
    },
    async transfer(address, { height }, signal) {
      const outputs = await sweepableOutputs(sources, { address, height }, signal)
      const [largest] = outputs.toSorted((one, other) => (one.value > other.value ? -1 : 1))
      if (largest === undefined) return undefined
      // Nodes may no longer have what the transaction spent: then it is named without its payer.
      const owners = await payersOf(sources, [largest.txid], signal).catch((error: unknown) => {
        if (error instanceof UpstreamUnavailableError) return []
        throw error
      })
      const [from, ...others] = owners
      const onlyPayer = others.length === 0 ? from : undefined
      return { transactionId: largest.txid, amount: largest.value, from: onlyPayer }
    },
  }
}

/**
 * Reads addresses one after another, because a node without lists scans all outputs for one address at a time. An
 * address that fails is undefined. @throws the last failure if no address has an answer, or failures take too long
 */
async function readEachAddress<Held>(
  addresses: readonly string[],
  signal: AbortSignal,
  read: (address: string) => Promise<Held>,
): Promise<readonly (Held | undefined)[]> {
  const held: (Held | undefined)[] = []
  let failure: unknown
  let failedMs = 0
  for (const address of addresses) {
    const startedMs = performance.now()
    try {
      held.push(await read(address))
    } catch (error) {
      failure = error
      failedMs += performance.now() - startedMs
      // A refusal of one address comes at once. Failures that take long mean silent endpoints, for every address.
      if (!(error instanceof DomainError) || signal.aborted || failedMs > failedMsMax) throw error
      held.push(undefined)
    }
  }
  if (failure !== undefined && held.every((one) => one === undefined)) throw failure
  return held
}

/**
 * Unspent outputs of an address in blocks up to `height` that a sweep takes. A lying list can at worst hide outputs.
 */
async function sweepableOutputs(
  { client, endpoints, network }: Sources,
  { address, height }: { readonly address: string; readonly height: bigint },
  signal: AbortSignal,
): Promise<readonly OwnOutput[]> {
  if (client.nameOutputs === undefined) throw new Error('nobody names what addresses of this chain hold')
  const listedOutputs = namedOutputs(await client.nameOutputs(address, signal))
  if (listedOutputs.length === 0) return []
  const script = outputScript(address, network)
  const unspentValues = await agreeOn(
    endpoints,
    async (view, viewSignal) =>
      Promise.all(listedOutputs.map((output) => unspentValue(view, { output, script, height }, viewSignal))),
    signal,
  )
  return sweptOutputs(
    listedOutputs.flatMap(({ txid, vout }, index) => {
      const value = unspentValues[index]
      return value === undefined ? [] : [{ txid, vout, value }]
    }),
  )
}

/** Accounts whose outputs these transactions spend, each once: they are the payers. */
async function payersOf(
  { client, network }: Sources,
  txids: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const payingTransactions = await readAllTransactions(client, txids, signal)
  // A coinbase, a miner's reward, has no payer.
  const spent = payingTransactions.flatMap(({ inputs }) => inputs).filter(({ txid }) => txid !== coinbaseId)
  const ids = [...new Set(spent.map(({ txid }) => txid))]
  const earlierTransactions = await readAllTransactions(client, ids, signal)
  const earlierById = new Map(ids.map((txid, index) => [txid, earlierTransactions[index]]))
  const owners = spent.flatMap(({ txid, vout }) => {
    const output = earlierById.get(txid)?.outputs[vout]
    const owner = output && scriptAddress(output.script, network)
    return owner === undefined ? [] : [owner]
  })
  return [...new Set(owners)]
}

type OutputQuestion = { readonly output: OwnOutput; readonly script: Uint8Array; readonly height: bigint }

/** One node's value of an output; undefined unless it pays `script`, is in a block up to `height` and unspent. */
async function unspentValue(
  view: EndpointView,
  { output, script, height }: OutputQuestion,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const node = createBitcoindView(view)
  const transaction = await node.readTransaction(output.txid, signal)
  const claimed = transaction?.transaction.outputs[output.vout]
  if (transaction === undefined || claimed === undefined || Buffer.compare(claimed.script, script) !== 0)
    return undefined
  const block = await node.readBlockOf(transaction, signal)
  if (block === undefined || block.height > height) return undefined
  return (await node.readSpending(output, signal)).kind === 'unspent' ? claimed.value : undefined
}

/** Transactions from any endpoint: ids are hashes of them. @throws UpstreamUnavailableError if one is missing */
async function readAllTransactions(client: ChainClient, ids: readonly string[], signal: AbortSignal) {
  const transactions = []
  for (let start = 0; start < ids.length; start += transactionsAtOnce) {
    const someIds = ids.slice(start, start + transactionsAtOnce)
    transactions.push(...(await readTransactions(client, someIds, signal)))
  }
  return transactions.map((transaction) => {
    if (transaction !== undefined) return transaction
    throw new UpstreamUnavailableError(`No endpoint of ${client.chainId} shows who paid an address.`)
  })
}

/** Satoshi that blocks pay, by canonical address, each address once. */
type PaidInBlocks = Pick<AddressPayments, 'known' | 'last'> & {
  readonly paid: readonly (readonly [string, bigint])[]
}

/** Sums that one node's blocks pay to each address. @throws MalformedAnswerError */
async function readPaid(
  view: EndpointView,
  range: PassRange,
  network: BitcoinNetwork,
  signal: AbortSignal,
): Promise<PaidInBlocks> {
  const paid = new Map<string, bigint>()
  const { known, last } = await readBlockRange(view, range, signal, ({ transactions }) => {
    for (const { outputs } of transactions) {
      for (const { script, value } of outputs) {
        const address = scriptAddress(script, network)
        if (address === undefined) continue
        paid.set(address, (paid.get(address) ?? 0n) + value)
      }
    }
  })
  return { known, last, paid: [...paid] }
}
