import type { Hex } from '@causeway/core'
import { askNode } from './askNode.ts'

const pollMs = 500

/**
 * Sends again what a node took and would never mine. The node checks a transaction against the account's
 * nonce before it puts it into its pool: when the transaction before it is mined between the two, the
 * later one waits for a nonce that has passed. It stays there, and sending it again is refused.
 * @returns what ends the care
 */
export function resendStuckTransactions(url: string): () => void {
  let isBusy = false
  const care = async () => {
    if (isBusy) return
    isBusy = true
    // A node that is stopped or suspended has no pool to look after.
    await sendStuckAgain(url).catch(() => undefined)
    isBusy = false
  }
  const timer = setInterval(() => void care(), pollMs)
  timer.unref()
  return () => clearInterval(timer)
}

async function sendStuckAgain(url: string): Promise<void> {
  const { queued: queuedCount } = (await askNode(url, 'txpool_status', [])) as { readonly queued: Hex }
  if (BigInt(queuedCount) === 0n) return
  const { pending, queued } = (await askNode(url, 'txpool_content', [])) as PoolContent
  for (const [sender, transactions] of Object.entries(queued)) {
    const nextNonce = (await askNode(url, 'eth_getTransactionCount', [sender, 'latest'])) as Hex
    if (!isStuck(transactions, nextNonce)) continue
    const hashes = [pending[sender] ?? {}, transactions].flatMap(hashesByNonce)
    const raws = await Promise.all(hashes.map((hash) => askNode(url, 'eth_getRawTransactionByHash', [hash])))
    await askNode(url, 'anvil_removePoolTransactions', [sender])
    // One that was mined meanwhile is refused, and the ones after it still count.
    for (const raw of raws) await askNode(url, 'eth_sendRawTransaction', [raw]).catch(() => undefined)
  }
}

/** By sender and decimal nonce. */
type PoolPart = Readonly<Record<string, Readonly<Record<string, { readonly hash: Hex }>>>>
type PoolContent = { readonly pending: PoolPart; readonly queued: PoolPart }

/** A transaction whose turn has come is mined or ready, and never in the queue. */
function isStuck(queued: PoolPart[string], nextNonce: Hex): boolean {
  return Object.keys(queued).some((nonce) => BigInt(nonce) <= BigInt(nextNonce))
}

function hashesByNonce(transactions: PoolPart[string]): readonly Hex[] {
  return Object.entries(transactions)
    .sort(([left], [right]) => (BigInt(left) < BigInt(right) ? -1 : 1))
    .map(([, { hash }]) => hash)
}
