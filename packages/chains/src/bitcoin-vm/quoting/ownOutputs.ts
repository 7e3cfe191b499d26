import {
  type BitcoinNetwork,
  bytesToHex,
  inputKindOf,
  inputsMax,
  type OutPoint,
  outputScript,
  type SpendableOutput,
} from '@causeway/core'
import type { ChainClient, NamedOutput } from '../../rpc/client.ts'
import type { RpcAnswer, RpcCall } from '../../rpc/jsonRpc.ts'
import { MalformedAnswerError } from '../../rpc/malformedAnswer.ts'
import { parseRecord } from '../../rpc/quantity.ts'
import { countVoices, type Vote } from '../../rpc/tally.ts'
import { parseHeight, parseSeenTransaction } from '../bitcoinView.ts'

/** Blocks above one that a miner's reward has to lie under. @source Bitcoin Core, `COINBASE_MATURITY` */
const rewardConfirmations = 100n

/** How long late nodes may still say what they have, once enough have. */
const patienceMs = 150

/**
 * What an address can spend now: whoever keeps lists of addresses only names it, and nodes decide. An output counts
 * when enough nodes have it, unspent by blocks and by what waits for one, and confirmed; its value and script come
 * from the bytes of the transaction that made it, which hash to its id. So a list that lies hides outputs at worst.
 * Of very many the most valuable are looked at, twice as many as one transaction spends.
 * @param network of the address; nothing is asked about an address of another one
 * @throws upstream errors where too few answer
 */
export async function readOwnOutputs(
  client: ChainClient,
  asked: { readonly address: string; readonly network: BitcoinNetwork },
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<readonly SpendableOutput[]> {
  const script = outputScript(asked.address, asked.network)
  if (client.nameOutputs === undefined) throw new Error('nobody names what addresses of this chain hold')
  const startedMs = Date.now()
  const named = await client.nameOutputs(asked.address, AbortSignal.timeout(timeoutMs))
  const looked = distinct(named)
    .toSorted((one, other) => (one.value < other.value ? 1 : one.value > other.value ? -1 : 0))
    .slice(0, 2 * inputsMax)
  if (looked.length === 0) return []
  return client.poll<readonly SpendableOutput[]>(looked.flatMap(callsOf), {
    ...{ timeoutMs: Math.max(1, timeoutMs - (Date.now() - startedMs)), patienceMs },
    decide(votes, isLast) {
      const { threshold } = client.electorate
      if (!isLast || countVoices(votes.filter(({ value }) => value !== undefined)) < threshold)
        return undefined
      return looked.flatMap((output, index) => {
        const said = votes.map((vote) => ({
          ...vote,
          value: outputIn(vote.value, index, { output, script }),
        }))
        return agreed(said, threshold)
      })
    },
  })
}

const callsPerOutput = 2

function callsOf({ txid, vout }: OutPoint): readonly RpcCall[] {
  return [
    { method: 'gettxout', params: [txid, vout, true] },
    { method: 'getrawtransaction', params: [txid, true] },
  ]
}

function distinct(named: readonly NamedOutput[]): readonly NamedOutput[] {
  return [...new Map(named.map((output) => [`${output.txid}:${output.vout}`, output])).values()]
}

/** Whatever several nodes say of one output is the same: it was read from bytes that its id covers. */
function agreed(votes: readonly Vote<SpendableOutput>[], threshold: number): readonly SpendableOutput[] {
  const having = votes.filter(({ value }) => value !== undefined)
  const first = having[0]?.value
  return first !== undefined && countVoices(having) >= threshold ? [first] : []
}

/** What one node says of an output; `undefined` where it is not spendable, or the node gives no usable answer. */
function outputIn(
  answers: readonly RpcAnswer[] | undefined,
  index: number,
  { output, script }: { readonly output: NamedOutput; readonly script: Uint8Array },
): SpendableOutput | undefined {
  const [unspent, raw] = answers?.slice(callsPerOutput * index, callsPerOutput * (index + 1)) ?? []
  if (unspent?.ok !== true || raw?.ok !== true || unspent.result === null) return undefined
  try {
    const { confirmations, coinbase } = parseRecord(unspent.result, 'gettxout')
    const depth = parseHeight(confirmations, 'gettxout')
    if (depth < (coinbase === true ? rewardConfirmations : 1n)) return undefined
    const { txid, vout } = output
    const { hex } = parseRecord(raw.result, 'getrawtransaction')
    const seen = parseSeenTransaction(hex, { transactionId: txid, block: undefined }, 'getrawtransaction')
    const made = seen.transaction.outputs[vout]
    if (made === undefined || Buffer.compare(made.script, script) !== 0) return undefined
    const isShown = inputKindOf(script) === 'public-key-hash'
    return {
      ...{ txid, vout, value: made.value, script: bytesToHex(script) },
      ...(isShown && { transaction: `0x${seen.hex}` as const }),
    }
  } catch (error) {
    if (error instanceof MalformedAnswerError) return undefined
    throw error
  }
}
