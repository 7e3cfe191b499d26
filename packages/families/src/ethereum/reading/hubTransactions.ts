import {
  divideUp,
  type Hex,
  minBigint,
  type Signer,
  startDeadline,
  UpstreamUnavailableError,
} from '@causeway/core'
import type { ChainClient, RpcCall } from '@causeway/rpc'
import { parseQuantity } from '@causeway/rpc'
import { parseSignature, serializeTransaction } from 'viem'

/** A call of a contract of the hub. `gasLimit`: the most that it can take. */
export type HubTransaction = { readonly to: Hex; readonly data: Hex; readonly gasLimit: bigint }

/** Sends calls to the hub with a key that pays for gas and has no right there. */
export interface HubTransactions {
  /**
   * Sends the call until `isDone` is true, again every few seconds; sends nothing if it is true at once. Each
   * time it takes a new nonce, so several may be mined: the contract must let the call have its effect once.
   * @param isDone reads from the hub whether the call has had its effect
   * @throws whatever `isDone` throws; UpstreamUnavailableError if it does not become true in time or no node
   * answers
   */
  sendUntil(
    transaction: HubTransaction,
    isDone: (signal: AbortSignal) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void>
}

/** Short, because a user's wallet waits for the answer. */
const writeTimeoutMs = 12_000
const pollMs = 200
/** Another process with the same key may have used the nonce, so the call is sent again after this time. */
const sendAgainAfterMs = 3_000

/**
 * Highest gas limit that every hub accepts. A call with a higher `gasLimit` is sent with its estimate in place of that.
 * @source EIP-7825
 */
const acceptedGas = 2n ** 24n

type HubSender = {
  readonly client: ChainClient
  readonly chainId: number
  readonly signer: Pick<Signer, 'address' | 'sign'>
}

export function createHubTransactions(sender: HubSender): HubTransactions {
  /** One transaction is sent after the other, so that each has its own nonce. */
  let previousSending: Promise<unknown> = Promise.resolve()
  const sendInTurn = (transaction: HubTransaction): Promise<void> => {
    const sending = previousSending.then(() => send(sender, transaction))
    previousSending = sending.catch(() => undefined)
    return sending
  }

  return {
    async sendUntil(transaction, isDone, caller) {
      const { signal, release } = startDeadline(caller, writeTimeoutMs)
      try {
        if (await isDone(signal)) return
        let sentAtMs = Number.NEGATIVE_INFINITY
        while (!signal.aborted) {
          if (performance.now() - sentAtMs > sendAgainAfterMs) {
            await sendInTurn(transaction)
            sentAtMs = performance.now()
          }
          await new Promise((resolve) => setTimeout(resolve, pollMs))
          if (await isDone(signal)) return
        }
        throw new UpstreamUnavailableError('The hub has not taken it in time: ask again.')
      } finally {
        release()
      }
    },
  }
}

/** Signs a call with the account's next nonce and sends it to all endpoints. */
async function send(
  { client, chainId, signer }: HubSender,
  { to, data, gasLimit }: HubTransaction,
): Promise<void> {
  const requestQuantity = async (call: RpcCall) => parseQuantity(await client.request(call), call.method)
  const [nonce, gasPrice, gas] = await Promise.all([
    requestQuantity({ method: 'eth_getTransactionCount', params: [signer.address, 'pending'] }),
    requestQuantity({ method: 'eth_gasPrice', params: [] }),
    gasLimit <= acceptedGas
      ? gasLimit
      : requestQuantity({ method: 'eth_estimateGas', params: [{ from: signer.address, to, data }] }).then(
          // A tenth more, rounded up, for what others change before it is mined.
          (estimate) => minBigint(gasLimit, divideUp(estimate * 11n, 10n)),
        ),
  ])
  const transaction = {
    type: 'eip1559' as const,
    chainId,
    to,
    nonce: Number(nonce),
    gas,
    data,
    // Twice the price, so that the call is still taken after several full blocks; a tenth of it as a usual tip.
    maxFeePerGas: 2n * gasPrice,
    maxPriorityFeePerGas: gasPrice / 10n,
  }
  const unsigned = serializeTransaction(transaction)
  const signature = await signer.sign({ purpose: 'transaction', unsigned })
  const raw = serializeTransaction(transaction, parseSignature(signature))
  // A refusal is ignored: another endpoint may accept it, or it was sent before; the hub's state shows the result.
  await client.askEach([{ method: 'eth_sendRawTransaction', params: [raw] }])
}
