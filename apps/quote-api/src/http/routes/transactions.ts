import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, isAnyCaseHex32 } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import { z } from 'zod'
import { databaseErrors } from '../routeErrors.ts'

const chainIdText = z.coerce.number().int().positive().describe('A number or its text')
const hashText = z.string().min(1).max(256)
const transactionTextMax = 131_072
const messageAnswer = z.object({ message: z.string() })

/** Receivers of the hints. They must be cheap, and must not trust a hint, because anybody can send one. */
export type TransactionHints = {
  /** Something may have happened on a chain. */
  readonly hint: (chainId: number) => void
  /** Reads a transaction now. @returns the deposits in it */
  readonly readNamed: (chainId: number, transaction: string) => Promise<readonly unknown[]>
  /** Notes that a transaction may be one by which a user executes his request himself. */
  readonly report: (reportedTransaction: {
    readonly requestId: Hex
    readonly chainId: number
    readonly txHash: Hex
  }) => Promise<void>
}

/** An answer waits this long for the reading of a transaction, which goes on afterwards. */
const patienceMs = 1_000

/**
 * POST /transactions/index and /transactions/single: a client tells that it sent a transaction. Both are only hints, and
 * facts are read from the chain: deposits are found without them, and a named transaction is read at once. @source F-71
 */
export function registerTransactions(app: HttpApp, hints: TransactionHints): void {
  const config = { rateLimitClass: 'status' }
  const response = { 200: messageAnswer, ...errorResponses }
  const index = {
    operationId: 'indexTransaction',
    tags: ['status'],
    errors: databaseErrors,
    summary: 'Hint that a transaction was sent',
    body: z.object({ chainId: chainIdText, txHash: hashText, requestId: z.string().max(256).optional() }),
    response,
  }
  app.post('/transactions/index', { schema: index, config }, ({ body }) =>
    takeHint(hints, body, [body.txHash]),
  )
  const single = {
    operationId: 'reportTransaction',
    tags: ['status'],
    errors: databaseErrors,
    summary: 'Hint that a transaction of a request was sent',
    body: z.object({
      requestId: z.string().max(256),
      chainId: chainIdText,
      tx: z.string().max(transactionTextMax),
    }),
    response,
  }
  app.post('/transactions/single', { schema: single, config }, ({ body }) =>
    takeHint(hints, body, hashesIn(body.tx)),
  )
}

async function takeHint(
  { hint, readNamed, report }: TransactionHints,
  { requestId, chainId }: { readonly requestId?: string | undefined; readonly chainId: number },
  hashes: readonly string[],
): Promise<z.output<typeof messageAnswer>> {
  const id = parseHex32(requestId)
  const evmHashes = hashes.map(parseHex32).filter((txHash) => txHash !== undefined)
  if (id !== undefined) for (const txHash of evmHashes) await report({ requestId: id, chainId, txHash })
  const reading = Promise.all(hashes.map((text) => readNamed(chainId, text))).catch(() => [])
  const timeout = sleep(patienceMs, [], { ref: false })
  const deposits = (await Promise.race([reading, timeout])).flat()
  // The jobs are woken after the reading, unless it takes too long, so that they find the deposits that it
  // kept.
  hint(chainId)
  return { message: deposits.length === 0 ? 'Success' : `Success: ${deposits.length} deposits found` }
}

const sentSchema = z.object({
  txHash: z.string().optional().catch(undefined),
  replacementTxHash: z.string().optional().catch(undefined),
})

/** Hashes in the JSON text of a transaction; empty if the text is not one. */
function hashesIn(text: string): readonly string[] {
  try {
    const { data } = sentSchema.safeParse(JSON.parse(text))
    return [data?.txHash, data?.replacementTxHash].filter((hash) => hash !== undefined)
  } catch {
    return []
  }
}

/** Id of a request, or hash of an EVM transaction; undefined for other text. Only EVM users execute requests themselves. */
function parseHex32(text: string | undefined): Hex | undefined {
  if (!isAnyCaseHex32(text)) return undefined
  // CAST: hex digits stay hex digits.
  return text.toLowerCase() as Hex
}
