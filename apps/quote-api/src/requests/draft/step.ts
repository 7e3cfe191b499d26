import type { Hex, PermitKind, PermitTypedData, StepData } from '@causeway/core'

/** Typed data to sign, and where to send the signature. @source quote-api.md 2.5 */
type StepSignature = {
  readonly chainId: number
  readonly sign: { readonly signatureKind: 'eip712' } & PermitTypedData
  readonly post: {
    readonly endpoint: '/execute/permits'
    readonly method: 'POST'
    readonly body: { readonly kind: PermitKind; readonly requestId: Hex; readonly api: 'bridge' | 'swap' }
  }
}

type Check = { readonly endpoint: string; readonly method: 'GET' }

type StepOf<Id, Kind, Data> = {
  readonly id: Id
  readonly action: string
  readonly description: string
  readonly kind: Kind
  readonly requestId: Hex
  readonly depositAddress?: string
  readonly items: readonly {
    readonly status: 'incomplete'
    readonly data: Data
    readonly check?: Check
  }[]
}

/** @source quote-api.md 2.3 */
export type TransactionStep = StepOf<'approve' | 'deposit' | 'swap' | 'send', 'transaction', StepData>
export type SignatureStep = StepOf<'authorize1' | 'authorize2', 'signature', StepSignature>
export type Step = TransactionStep | SignatureStep

/** What clients poll until the request is over. */
export function statusCheck(requestId: Hex): Check {
  return { endpoint: `/intents/status/v3?requestId=${requestId}`, method: 'GET' }
}
