import type { FamilyKey } from '../families/familyPlans.ts'

/** Chains whose nodes a personality imitates; `ethereum` stands for all EVM chains. */
export type NodeFamily = 'ethereum' | FamilyKey

/** One behaviour of hosted nodes: when a node does not give the true answer, and which answer it gives then. */
export type NodePersonality = {
  readonly family: NodeFamily
  /** Public page that documents or reports it. `unconfirmed`: no recorded answer and no page was found that shows it. */
  readonly source: string
  /** Calls that it concerns, matched on `SeenCall.method`. Absent: all. */
  readonly calls?: RegExp
  readonly when: NodeCondition
  readonly answer: NodeAnswer
}

/** When the node behaves so. The first four are conditions of a whole request, the others of each call in it. */
export type NodeCondition =
  /** More than `above` calls in one request. */
  | { readonly kind: 'batch'; readonly above: number }
  | { readonly kind: 'bodyBytes'; readonly above: number }
  /** More than `above` requests within one second. */
  | { readonly kind: 'rate'; readonly above: number }
  /** Every n-th request, where n is `request`. */
  | { readonly kind: 'every'; readonly request: number }
  | { readonly kind: 'always' }
  /** A range of more than `above` blocks, ends included. */
  | { readonly kind: 'logRange'; readonly above: number }
  /** A true answer that lists more than `above` entries. */
  | { readonly kind: 'entries'; readonly above: number }
  /** The state of a block that is more than `above` below the head. */
  | { readonly kind: 'stateAge'; readonly above: number }
  /** The block is an object. @source EIP-1898 */
  | { readonly kind: 'blockObject' }
  /** The client accepts only transaction versions below `version`. */
  | { readonly kind: 'versionBelow'; readonly version: number }

/** Answer that the node then gives in place of the truth. */
export type NodeAnswer =
  /** An error of JSON-RPC. `{from}` and `{last}` in the message become the ends of a range that is not refused. */
  | {
      readonly kind: 'error'
      readonly code: number
      readonly message: string
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'page'
      readonly status: number
      readonly type: string
      readonly body: string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** An empty list, or `null`. */
  | { readonly kind: 'empty' }
  /** For `ms` after the node first had a transaction, lists lack it and receipts lack its logs. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The answer of a node that is so many blocks behind the head; requests take the numbers in turn. */
  | { readonly kind: 'behind'; readonly blocks: readonly number[] }
  /** The true answer behind so many bytes of white space. */
  | { readonly kind: 'long'; readonly bytes: number }
