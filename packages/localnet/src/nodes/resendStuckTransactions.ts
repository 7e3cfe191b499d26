import type { Hex } from '@causeway/core'
import { askNode } from './askNode.ts'

const pollMs = 500

/**
 * Works around a race of anvil, which can leave a transaction in its pool for ever. Anvil checks a transaction against
 * the account's nonce before it puts it into the pool: when the transaction with the nonce before is mined between the
 * two steps, the later one waits for a nonce that has passed, and sending it again is refused. So every half second
 * this empties the pool of such accounts and sends their transactions again.
 * @returns a function that ends this
 */
export function resendStuckTransactions(url: string): () => void {
  let isBusy = false
  const checkPool = async () => {
    if (isBusy) return
    isBusy = true
    // A node that is stopped or suspended has no pool to look after.
    await sendStuckAgain(url).catch(() => undefined)
    isBusy = false
  }
  const timer = setInterval(() => void checkPool(), pollMs)
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
    // A transaction that was mined meanwhile is refused; the ones after it still have to be sent.
    for (const raw of raws) await askNode(url, 'eth_sendRawTransaction', [raw]).catch(() => undefined)
  }
}

/** Transactions of one part of the pool, by sender and decimal nonce. */
type PoolPart = Readonly<Record<string, Readonly<Record<string, { readonly hash: Hex }>>>>
type PoolContent = { readonly pending: PoolPart; readonly queued: PoolPart }

/** True where the queue holds the account's next nonce or a passed one: such a transaction should be mined or pending. */
function isStuck(queued: PoolPart[string], nextNonce: Hex): boolean {
  return Object.keys(queued).some((nonce) => BigInt(nonce) <= BigInt(nextNonce))
}

function hashesByNonce(transactions: PoolPart[string]): readonly Hex[] {
  return Object.entries(transactions)
    .sort(([left], [right]) => (BigInt(left) < BigInt(right) ? -1 : 1))
    .map(([, { hash }]) => hash)
}
