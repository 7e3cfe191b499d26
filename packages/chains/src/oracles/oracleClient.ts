import type {
  Execution,
  ExecutionDomain,
  Hex,
  NoFillOrRefund,
  NonceMapping,
  RecoverSigner,
  SigningRequest,
} from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { requestText } from '@causeway/rpc'
import { z } from 'zod'
import type { OracleSetting } from './oracleSettings.ts'

/** One oracle's answer to a request to sign one message. */
export type OracleAnswer =
  /** Its pinned signer signed the message that was asked for. */
  | { readonly said: 'signed'; readonly signer: Hex; readonly signature: string }
  /** It refused for good, or signed something else. `code` names its refusal. */
  | { readonly said: 'denied'; readonly code: string }
  /** Not final yet, overloaded, silent or unreadable: ask again. */
  | { readonly said: 'nothing'; readonly code: string }

/** An answer without a signature that counts. */
type Unsigned = Exclude<OracleAnswer, { said: 'signed' }>

/** Body of `signatures/nonce-mapping/v2`. */
export type MappingRequest = Omit<NonceMapping, 'nonce'> & {
  readonly nonce: string
  readonly signatureChainId: string
  readonly signature: Hex
}

/** Signing request for an entry of the hub's generic mapping. */
export type MappingEntryRequest = Extract<SigningRequest, { purpose: 'mapping-entry' }>

/** Body of `signatures/no-fill-or-refund/v1`. */
type PromiseRequest = NoFillOrRefund & { readonly signature: Hex }

/** The hub execution that one oracle signed, or its answer without one. */
export type ExecutionAnswer =
  | Unsigned
  | (Extract<OracleAnswer, { said: 'signed' }> & { readonly execution: Execution })

/** Asks one configured oracle for attestations. A signature counts only if the oracle's pinned signer made it. */
export interface OracleClient {
  readonly name: string
  readonly signer: Hex
  /**
   * Asks for a fill's attestation and looks for the pinned signer's signature over `messageId`. Nothing else of the
   * answer is read: a sponsor's debit does not wait for the hub execution, which the oracle may hold back. Never
   * throws.
   */
  attestFill(request: object, messageId: Hex, signal: AbortSignal): Promise<OracleAnswer>
  /** Requests the attestation of a refund. Never throws. */
  attestRefund(request: object, messageId: Hex, signal: AbortSignal): Promise<OracleAnswer>
  /** Requests the attestation of a generic-mapping entry that a wallet's signature proves. Never throws. */
  attestMapping(
    request: MappingRequest,
    entry: MappingEntryRequest,
    signal: AbortSignal,
  ): Promise<OracleAnswer>
  /** Requests the attestation of a generic-mapping entry that a solver's signed promise proves. Never throws. */
  attestPromise(
    request: PromiseRequest,
    entry: MappingEntryRequest,
    signal: AbortSignal,
  ): Promise<OracleAnswer>
  /** Requests the execution that credits a transaction's deposits on the hub. Never throws. */
  attestDeposits(
    request: { readonly chainId: string; readonly transactionId: string },
    domain: ExecutionDomain,
    signal: AbortSignal,
  ): Promise<ExecutionAnswer>
}

/** An attestation takes at most 8 s. @source docs/reference/attestations/README.md, On every route */
const defaultTimeoutMs = 9_000
const answerBytesMax = 2 * 1024 * 1024
const signaturesMax = 1_000

const signatures = z.array(z.object({ signature: z.string().max(2_100) })).max(signaturesMax)
const answerSchema = z.object({ message: z.object({ signatures }) })
const bytes = z
  .string()
  .max(4_096)
  .regex(/^0x([0-9a-f]{2})+$/)
  .transform((text) => `0x${text.slice(2)}` as const)
/** Above the 680 mints that fit into 131,072 bytes, the longest transaction that nodes of the hub pass on (geth). */
const actionsMax = 1_000
const executionSchema = z.object({
  execution: z.object({ idempotencyKey: bytes, actions: z.array(bytes).max(actionsMax), signatures }),
})
const mappingSchema = z.object({ genericMapping: z.object({ signatures }) })
const refusalSchema = z.object({ errorCode: z.string().max(64) })

/** Refusals that pass: the same request may be signed later. An oracle may yet be configured for an unknown chain. */
const temporaryRefusals = new Set([
  'TRANSACTION_NOT_FINAL',
  'TRANSACTION_MISSING',
  'CHAIN_UNAVAILABLE',
  'UNKNOWN_CHAIN',
])

type OracleClientOptions = {
  setting: OracleSetting
  recover: RecoverSigner
  timeoutMs?: number
  /** Headers that carry the current trace to the oracle. */
  tracedBy?: () => Readonly<Record<string, string>>
}

export function createOracleClient(options: OracleClientOptions): OracleClient {
  const { setting, recover } = options
  const { name, signer } = setting
  const attest = (kind: string, request: object, messageId: Hex, signal: AbortSignal) => {
    const readAnswer = (body: unknown): OracleAnswer => {
      const { data } = answerSchema.safeParse(body)
      const digest = signingDigest({ purpose: 'message', messageId })
      return data ? signatureOf(data.message.signatures, { signer, digest, recover }) : malformed
    }
    return askOracle(options, `/attestations/${kind}/v1`, request, readAnswer, signal)
  }
  const attestEntry = (route: string, request: object, entry: MappingEntryRequest, signal: AbortSignal) => {
    const readAnswer = (body: unknown): OracleAnswer => {
      const { data } = mappingSchema.safeParse(body)
      const wanted = { signer, digest: signingDigest(entry), recover }
      return data ? signatureOf(data.genericMapping.signatures, wanted) : malformed
    }
    return askOracle(options, `/attestations/signatures/${route}`, request, readAnswer, signal)
  }
  return {
    name,
    signer,
    attestFill: (request, messageId, signal) => attest('solver-fills', request, messageId, signal),
    attestRefund: (request, messageId, signal) => attest('solver-refunds', request, messageId, signal),
    attestMapping: (request, entry, signal) => attestEntry('nonce-mapping/v2', request, entry, signal),
    attestPromise: (request, entry, signal) => attestEntry('no-fill-or-refund/v1', request, entry, signal),
    attestDeposits(request, domain, signal) {
      const readAnswer = (body: unknown): ExecutionAnswer => {
        const { data } = executionSchema.safeParse(body)
        if (data === undefined) return malformed
        const { idempotencyKey, actions, signatures: entries } = data.execution
        const execution = { idempotencyKey, actions }
        const digest = signingDigest({ purpose: 'execution', domain, execution })
        const answer = signatureOf(entries, { signer, digest, recover })
        return answer.said === 'signed' ? { ...answer, execution } : answer
      }
      return askOracle(options, '/attestations/depository-deposits/v1', request, readAnswer, signal)
    },
  }
}

const malformed: Unsigned = { said: 'nothing', code: 'malformed answer' }

/** Never throws. @param readAnswer reads the body of an answer with status 200 */
async function askOracle<Answer>(
  { setting: { url, apiKey }, timeoutMs = defaultTimeoutMs, tracedBy }: OracleClientOptions,
  path: string,
  request: object,
  readAnswer: (body: unknown) => Answer | Unsigned,
  signal: AbortSignal,
): Promise<Answer | Unsigned> {
  try {
    const { status, text } = await requestText({
      url: `${url.reveal()}${path}`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { 'x-api-key': apiKey.reveal() }),
        ...tracedBy?.(),
      },
      // Every oracle is asked by itself, and its own signature alone counts, so it need not ask its peers.
      body: JSON.stringify({ ...request, requestPeerSignatures: false }),
      timeoutMs,
      answerBytesMax,
      signal,
    })
    const body: unknown = JSON.parse(text)
    return status === 200 ? readAnswer(body) : refused(status, body)
  } catch {
    // No answer, no JSON and an endless answer all mean the same: the oracle has said nothing yet.
    return { said: 'nothing', code: 'no answer' }
  }
}

/**
 * Reads an answer with another status than 200. Only 400 can judge the request itself; any other one has a
 * cause that may pass.
 */
function refused(status: number, body: unknown): Unsigned {
  const parsed = refusalSchema.safeParse(body)
  const code = parsed.success ? parsed.data.errorCode : `HTTP_${status}`
  return status === 400 && !temporaryRefusals.has(code) ? { said: 'denied', code } : { said: 'nothing', code }
}

/** The pinned signer's signature over `digest`. One oracle counts once, however many signatures it lists. */
function signatureOf(
  entries: readonly { readonly signature: string }[],
  wanted: { signer: Hex; digest: Uint8Array; recover: RecoverSigner },
): OracleAnswer {
  const match = entries.find(({ signature }) => wanted.recover(wanted.digest, signature) === wanted.signer)
  if (match === undefined) return { said: 'denied', code: 'signed something else' }
  return { said: 'signed', signer: wanted.signer, signature: match.signature }
}
