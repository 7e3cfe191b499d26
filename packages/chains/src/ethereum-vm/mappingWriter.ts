import {
  DomainError,
  type MappingDomain,
  type MappingEntry,
  type Signer,
  startDeadline,
  UpstreamUnavailableError,
} from '@causeway/core'
import { concatHex, encodeFunctionData, parseAbi, parseSignature, serializeTransaction } from 'viem'
import type { EntryProof, HubEntries, MappingWriter } from '../family/hubEntries.ts'
import type { ChainClient } from '../rpc/client.ts'
import type { RpcCall } from '../rpc/jsonRpc.ts'
import { parseQuantity } from '../rpc/quantity.ts'

/** The nonce was mapped before, to something else: the first entry stands. */
export class MappingTakenError extends DomainError {
  readonly code = 'NONCE_MAPPED_BEFORE'
  readonly kind = 'invalid_request'

  constructor() {
    super('The nonce of this transfer belongs to another order: ask for a new quote.')
  }
}

const abi = parseAbi([
  'function setEntry(address user, bytes32 id, bytes data, bytes32 nonce, address oracle, bytes signature)',
])

/** A wallet waits for the answer. */
const writeTimeoutMs = 12_000
const pollMs = 200
/** Another writer with the same key may have taken the place: then it is sent again. */
const sendAgainAfterMs = 3_000
/** An entry of 52 bytes and the signatures of a dozen oracles. */
const gasLimit = 600_000n

export function createMappingWriter(options: {
  readonly client: ChainClient
  readonly entries: HubEntries
  readonly domain: MappingDomain
  readonly signer: Pick<Signer, 'address' | 'sign'>
}): MappingWriter {
  const { client, entries, domain, signer } = options
  const { chainId, verifyingContract: to } = domain
  /** One transaction after the other, so that each has a place of its own. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  async function isWritten({ user, id, data }: MappingEntry, signal: AbortSignal): Promise<boolean> {
    const found = await entries.read(user, id, { signal })
    if (found.createdAtSeconds === 0n) return false
    if (found.data.toLowerCase() !== data.toLowerCase()) throw new MappingTakenError()
    return true
  }

  async function send(entry: MappingEntry, { oracle, signatures }: EntryProof): Promise<void> {
    const quantity = async (call: RpcCall) => parseQuantity(await client.request(call), call.method)
    const [nonce, gasPrice] = await Promise.all([
      quantity({ method: 'eth_getTransactionCount', params: [signer.address, 'pending'] }),
      quantity({ method: 'eth_gasPrice', params: [] }),
    ])
    const args = [entry.user, entry.id, entry.data, entry.nonce, oracle, concatHex([...signatures])] as const
    const transaction = {
      ...{ type: 'eip1559' as const, chainId, to, nonce: Number(nonce), gas: gasLimit },
      ...{ maxFeePerGas: 2n * gasPrice, maxPriorityFeePerGas: gasPrice / 10n },
      data: encodeFunctionData({ abi, functionName: 'setEntry', args }),
    }
    const unsigned = serializeTransaction(transaction)
    const signature = await signer.sign({ purpose: 'transaction', unsigned })
    const raw = serializeTransaction(transaction, parseSignature(signature))
    // What one endpoint refuses another may take, or it is there already: the entry tells.
    await client.askEach([{ method: 'eth_sendRawTransaction', params: [raw] }])
  }

  async function untilWritten(entry: MappingEntry, proof: EntryProof, signal: AbortSignal): Promise<void> {
    if (await isWritten(entry, signal)) return
    let sentAtMs = Number.NEGATIVE_INFINITY
    while (!signal.aborted) {
      if (Date.now() - sentAtMs > sendAgainAfterMs) {
        await inTurn(() => send(entry, proof))
        sentAtMs = Date.now()
      }
      await new Promise((resolve) => setTimeout(resolve, pollMs))
      if (await isWritten(entry, signal)) return
    }
    throw new UpstreamUnavailableError('The hub has not taken the entry in time: send the signature again.')
  }

  return {
    async write(entry, proof, caller) {
      const deadline = startDeadline(caller, writeTimeoutMs)
      try {
        await untilWritten(entry, proof, deadline.signal)
      } finally {
        deadline.release()
      }
    },
  }
}
