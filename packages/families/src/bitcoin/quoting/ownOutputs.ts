import { bytesToHex } from '@causeway/core'
import type { BitcoinNetwork } from '@causeway/core/encodings'
import type { ChainClient, LruCache, NamedOutput, RpcAnswer, RpcCall } from '@causeway/rpc'
import { countVoices, parseRecord, unlessUnreadable, type Vote } from '@causeway/rpc'
import type { SpendableOutput } from '../../rules/plannedTransaction.ts'
import { parseHeight, parseSeenTransaction } from '../reading/bitcoinView.ts'
import { inputsMax } from '../rules/quoting/fundTransaction.ts'
import { inputKindOf, showsTransaction } from '../rules/quoting/virtualSize.ts'
import { outputScript } from '../rules/script.ts'
import {
  distinctOutputs,
  encodeBitcoinTransaction,
  type OutPoint,
  outPointText,
} from '../rules/transaction.ts'
import type { AskUnspent } from './unspentGroups.ts'

/** Confirmations after which a miner's reward can be spent. @source Bitcoin Core, `COINBASE_MATURITY` */
const rewardConfirmations = 100n

/** Milliseconds that late nodes have left to answer, once enough have answered. */
const patienceMs = 150

type OwnOutputsOptions = {
  readonly timeoutMs: number
  /** As of `BitcoinView.nameOutputs`: has the newest outputs listed if an address has too many for a list. */
  readonly whose?: 'own'
  /** Outputs whose bytes were read before, by `outPointText`; new ones are added. */
  readonly outputCache?: LruCache<SpendableOutput>
  /** Asks for the unspent state of outputs of several addresses together; absent: each address is asked for alone. */
  readonly askUnspent?: AskUnspent
}

/**
 * Outputs that an address can spend now: a user's for a quote, or the fill wallet's. Lists only name outputs. An output
 * counts when enough nodes report it as confirmed and unspent, by blocks and by the mempool. Its value and script come
 * from the bytes of the transaction that made it, which hash to its id. So a lying list can at worst hide outputs. Only
 * the most valuable ones are checked: twice as many as one transaction spends, since some may be spent by
 * now.
 * @throws AddressRefusedError where no list covers the address, upstream errors where too few nodes answer
 */
export async function readOwnOutputs(
  client: ChainClient,
  ownAddress: { readonly address: string; readonly network: BitcoinNetwork },
  { timeoutMs, whose, outputCache, askUnspent }: OwnOutputsOptions,
): Promise<readonly SpendableOutput[]> {
  const script = outputScript(ownAddress.address, ownAddress.network)
  if (client.nameOutputs === undefined) throw new Error('nobody names what addresses of this chain hold')
  const startedMs = performance.now()
  const listedOutputs = await client.nameOutputs(ownAddress.address, AbortSignal.timeout(timeoutMs), whose)
  const lookups = distinctOutputs(listedOutputs)
    .toSorted(mostValuableFirst)
    .slice(0, 2 * inputsMax)
    .map((output): OutputLookup => ({ output, cached: outputCache?.get(outPointText(output)) }))
  if (lookups.length === 0) return []
  const { threshold } = client.electorate
  const limits = { timeoutMs: Math.max(1, timeoutMs - (performance.now() - startedMs)) }
  // The bytes of all outputs are known: only their unspent state is asked for, with outputs of other addresses.
  if (askUnspent !== undefined && lookups.every(({ cached }) => cached !== undefined)) {
    const votes = await askUnspent(
      lookups.map(({ output }) => output),
      limits,
    )
    return agreedOutputs(votes, { lookups, script, threshold })
  }
  const ownOutputs = await client.poll<readonly SpendableOutput[]>(lookups.flatMap(callsOf), {
    ...limits,
    patienceMs,
    decide(votes, isLast) {
      // Without an outcome of the last votes, `poll` rejects.
      if (!isLast || countVoices(votes.filter(({ value }) => value !== undefined)) < threshold)
        return undefined
      return agreedOutputs(votes, { lookups, script, threshold })
    },
  })
  for (const output of ownOutputs) outputCache?.set(outPointText(output), output)
  return ownOutputs
}

const mostValuableFirst = (one: NamedOutput, other: NamedOutput): number =>
  one.value < other.value ? 1 : one.value > other.value ? -1 : 0

type AgreedOutputsOptions = {
  readonly lookups: readonly OutputLookup[]
  readonly script: Uint8Array
  readonly threshold: number
}

/** Outputs on which enough nodes agree. Each vote holds the answers to the calls of all lookups, in their order. */
function agreedOutputs(
  votes: readonly Vote<readonly RpcAnswer[]>[],
  { lookups, script, threshold }: AgreedOutputsOptions,
): readonly SpendableOutput[] {
  let end = 0
  return lookups.flatMap((lookup) => {
    const start = end
    end += callsOf(lookup).length
    const outputVotes = votes.map((vote) => ({
      ...vote,
      value: outputIn(vote.value?.slice(start, end), lookup, script),
    }))
    return agreedOutput(outputVotes, threshold)
  })
}

/** An output that a list names, and its data, if an earlier reading cached it. */
type OutputLookup = { readonly output: OutPoint; readonly cached: SpendableOutput | undefined }

/** The unspent state, mempool included; and the transaction's bytes, unless they were read before. */
function callsOf({ output: { txid, vout }, cached }: OutputLookup): readonly RpcCall[] {
  const unspent = { method: 'gettxout', params: [txid, vout, true] }
  return cached === undefined ? [unspent, { method: 'getrawtransaction', params: [txid, true] }] : [unspent]
}

/** The output, if enough nodes report it. Their values need no comparison: they come from bytes that hash to its id. */
function agreedOutput(
  votes: readonly Vote<SpendableOutput>[],
  threshold: number,
): readonly SpendableOutput[] {
  const supporting = votes.filter(({ value }) => value !== undefined)
  const first = supporting[0]?.value
  return first !== undefined && countVoices(supporting) >= threshold ? [first] : []
}

/** One node's answer about an output; `undefined` if it is not spendable or the answer is unusable. */
function outputIn(
  answers: readonly RpcAnswer[] | undefined,
  { output, cached }: OutputLookup,
  script: Uint8Array,
): SpendableOutput | undefined {
  const [unspent, raw] = answers ?? []
  if (unspent?.ok !== true || unspent.result === null) return undefined
  return unlessUnreadable(() => {
    const { confirmations, coinbase } = parseRecord(unspent.result, 'gettxout')
    const depth = parseHeight(confirmations, 'gettxout')
    if (depth < (coinbase === true ? rewardConfirmations : 1n)) return undefined
    if (cached !== undefined) return cached.script === bytesToHex(script) ? cached : undefined
    return raw?.ok === true ? parseOwnOutput(raw.result, output, script) : undefined
  })
}

/** The output from its transaction's bytes; `undefined` if it pays another script. @throws MalformedAnswerError */
function parseOwnOutput(
  result: unknown,
  { txid, vout }: OutPoint,
  script: Uint8Array,
): SpendableOutput | undefined {
  const requestName = 'getrawtransaction'
  const { hex } = parseRecord(result, requestName)
  const { transaction } = parseSeenTransaction(hex, { transactionId: txid, block: undefined }, requestName)
  const output = transaction.outputs[vout]
  if (output === undefined || Buffer.compare(output.script, script) !== 0) return undefined
  return {
    txid,
    vout,
    value: output.value,
    script: bytesToHex(script),
    // Witnesses, which may have megabytes, are left out: signers check only that the bytes hash to the id.
    ...(showsTransaction(inputKindOf(script)) && {
      transaction: bytesToHex(encodeBitcoinTransaction(transaction)),
    }),
  }
}
