// One payment from a chain to another one, as a user, an oracle's caller and a doubter see it.
import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import { zeroAddress } from 'viem'
import { z } from 'zod'
import type { Payment } from './chains.ts'
import type { FieldChain } from './files.ts'
import { quorum } from './services.ts'

/** Blocks become final, solvers look, oracles read one after the other: each within this time. */
const patienceMs = 600_000
/** Another oracle may know a fact somewhat later than one's own, and may never. */
const comparePatienceMs = 120_000
const pollMs = 1_000
const askTimeoutMs = 60_000
const shownMax = 300

const hex = z.templateLiteral(['0x', z.string()])
const quoteSchema = z.object({
  requestId: z.string(),
  steps: z.array(
    z.object({
      items: z.array(z.object({ data: z.object({ to: hex, data: hex, value: z.coerce.bigint() }) })),
    }),
  ),
  details: z.object({ currencyOut: z.object({ amountFormatted: z.string() }) }),
  protocol: z.object({
    v2: z.object({ orderId: z.string(), orderData: z.unknown(), orderSignature: z.string() }),
  }),
})
const statusSchema = z.object({
  status: z.string(),
  inTxHashes: z.array(z.string()).default([]),
  txHashes: z.array(z.string()).default([]),
})
const attestedSchema = z.looseObject({
  messages: z.array(z.looseObject({ result: z.looseObject({}) })).optional(),
  message: z.looseObject({ result: z.looseObject({}) }).optional(),
  execution: z
    .looseObject({
      idempotencyKey: z.string(),
      actions: z.array(z.string()),
      signatures: z.array(z.unknown()),
    })
    .optional(),
})

export type Quoted = {
  readonly requestId: string
  readonly orderId: string
  readonly order: unknown
  readonly orderSignature: string
  readonly payments: readonly Payment[]
  readonly received: string
}

export type Asked = {
  readonly url: string
  readonly apiKey?: string | undefined
  readonly signal: AbortSignal
}

/** Asks what delivering so much native coin costs, and how to pay for it. */
export async function askQuote(
  quoteApi: Asked,
  pair: {
    readonly user: Hex
    readonly from: FieldChain
    readonly to: FieldChain
    readonly amountWei: bigint
  },
): Promise<Quoted> {
  const { user, from, to, amountWei } = pair
  const body = {
    user,
    recipient: user,
    tradeType: 'EXACT_OUTPUT',
    amount: amountWei.toString(),
    originChainId: from.chainId,
    destinationChainId: to.chainId,
    includeProtocolData: true,
    originCurrency: zeroAddress,
    destinationCurrency: zeroAddress,
  }
  // Markets may still be reading what has just been lent.
  const json = await patiently('a quote', quoteApi, comparePatienceMs, () => ask(quoteApi, '/quote', body))
  const { requestId, steps, details, protocol } = quoteSchema.parse(json)
  const { orderId, orderData: order, orderSignature } = protocol.v2
  return {
    requestId,
    orderId,
    order,
    orderSignature,
    payments: steps.flatMap(({ items }) =>
      items.map(({ data }) => ({ to: data.to, data: data.data, valueWei: data.value })),
    ),
    received: details.currencyOut.amountFormatted,
  }
}

/** @returns the transactions of deposit and fill @throws Error where it ends otherwise, or not */
export async function waitForFill(
  quoteApi: Asked,
  requestId: string,
): Promise<{ readonly deposit: string; readonly fill: string }> {
  return patiently('the fill', quoteApi, patienceMs, async () => {
    const json = await ask(quoteApi, `/intents/status/v3?requestId=${requestId}`)
    const { status, inTxHashes, txHashes } = statusSchema.parse(json)
    if (status === 'refund' || status === 'failure') throw new Ended(`the request ended as ${status}`)
    const [[deposit], [fill]] = [inTxHashes, txHashes]
    return status === 'success' && deposit && fill ? { deposit, fill } : undefined
  })
}

export type Attestation = z.infer<typeof attestedSchema>

/** Question to the oracles about a payment, in its order. */
export type Question = { readonly path: string; readonly body: object }

/** Asks for deposit and fill until enough oracles signed both. @returns each question with its answer */
export async function attestPayment(
  oracle: Asked,
  paid: Quoted & { readonly chainId: string; readonly deposit: string; readonly fill: string },
): Promise<readonly { readonly question: Question; readonly answer: Attestation }[]> {
  const { chainId, deposit, fill, order, orderId, orderSignature } = paid
  const attest = async ({ path, body }: Question): Promise<Attestation> =>
    patiently(path, oracle, patienceMs, async () => {
      const json = await ask(oracle, path, { ...body, requestPeerSignatures: true })
      const answer = attestedSchema.parse(json)
      return (answer.execution?.signatures.length ?? 0) >= quorum ? answer : undefined
    })
  const ofDeposit: Question = {
    path: '/attestations/depository-deposits/v1',
    body: { chainId, transactionId: deposit },
  }
  const deposited = await attest(ofDeposit)
  const { result } = deposited.messages?.find((one) => one.result['depositId'] === orderId) ?? {}
  if (result === undefined) throw new Error('the deposit was attested without the order')
  const inputs = [{ transactionId: deposit, onchainId: result['onchainId'], inputIndex: 0 }]
  const ofFill: Question = {
    path: '/attestations/solver-fills/v1',
    body: { order, orderSignature, inputs, fill: { transactionId: fill } },
  }
  return [
    { question: ofDeposit, answer: deposited },
    { question: ofFill, answer: await attest(ofFill) },
  ]
}

/** Asks another oracle the same. @returns what it says otherwise, in words; undefined where it agrees */
export async function compareWith(
  other: Asked,
  { question, answer }: { readonly question: Question; readonly answer: Attestation },
): Promise<string | undefined> {
  const json = await patiently('its answer', other, comparePatienceMs, () =>
    ask(other, question.path, question.body),
  )
  return differenceOf(answer, attestedSchema.parse(json))
}

/** First member on which two oracles disagree about one question; signatures and further members are their own. */
export function differenceOf(own: Attestation, other: Attestation): string | undefined {
  const [ours, theirs] = [own, other].map(factsOf)
  const name = Object.keys(ours ?? {}).find(
    (one) => theirs?.[one] !== undefined && ours?.[one] !== undefined && theirs[one] !== ours[one],
  )
  if (name !== undefined) return `${name}: ${ours?.[name]} here, ${theirs?.[name]} there`
  const isSame = Object.keys(ours ?? {}).some(
    (one) => theirs?.[one] !== undefined && ours?.[one] !== undefined,
  )
  return isSame ? undefined : 'it says nothing that can be compared'
}

function factsOf({ messages, message, execution }: Attestation): Record<string, string | undefined> {
  const results = (messages ?? (message === undefined ? [] : [message])).map(({ result }) =>
    JSON.stringify(Object.entries(result).sort(([one], [two]) => (one < two ? -1 : 1))),
  )
  return {
    results: results.length === 0 ? undefined : results.sort().join(),
    idempotencyKey: execution?.idempotencyKey.toLowerCase(),
    actions: execution?.actions.join().toLowerCase(),
  }
}

/** Failure that a retry does not solve. */
class Ended extends Error {}

async function patiently<Value>(
  subject: string,
  { signal }: Pick<Asked, 'signal'>,
  withinMs: number,
  read: () => Promise<Value | undefined>,
): Promise<Value> {
  const deadline = performance.now() + withinMs
  let last = ''
  while (performance.now() < deadline) {
    signal.throwIfAborted()
    try {
      const found = await read()
      if (found !== undefined) return found
    } catch (error) {
      if (error instanceof Ended) throw error
      last = error instanceof Error ? error.message : String(error)
    }
    await delay(pollMs)
  }
  throw new Error(`${subject} did not come within ${withinMs / 1_000} s${last === '' ? '' : `: ${last}`}`)
}

/** @throws Error with what the service says */
async function ask({ url, apiKey }: Asked, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${url.replace(/\/$/, '')}${path}`, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json', ...(apiKey !== undefined && { 'x-api-key': apiKey }) },
    signal: AbortSignal.timeout(askTimeoutMs),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, shownMax)}`)
  return JSON.parse(text)
}
