import type { FamilyKey } from '../families/familyPlans.ts'

/** A chain whose nodes answer so. */
export type NodeFamily = 'ethereum' | FamilyKey

/** One behaviour of hosted nodes: when a node does not give the true answer, and which answer it gives then. */
export type NodePersonality = {
  readonly family: NodeFamily
  /** Public page that documents or reports it. `unconfirmed`: no recorded answer and no page was found that shows it. */
  readonly source: string
  /** Calls that it concerns: the method of JSON-RPC, the `type` of a body, else the path. Absent: all. */
  readonly calls?: RegExp
  readonly when: NodeCondition
  readonly answer: NodeAnswer
}

/** The first four are conditions of a whole request, the others of each call in it. */
export type NodeCondition =
  /** More calls in one request. */
  | { readonly kind: 'batch'; readonly above: number }
  | { readonly kind: 'bodyBytes'; readonly above: number }
  /** More requests within one second. */
  | { readonly kind: 'rate'; readonly above: number }
  /** Each request of that number. */
  | { readonly kind: 'every'; readonly request: number }
  | { readonly kind: 'always' }
  /** A wider range of blocks, ends included. */
  | { readonly kind: 'logRange'; readonly above: number }
  /** A true answer that lists more. */
  | { readonly kind: 'entries'; readonly above: number }
  /** The state of a block that is further below the head. */
  | { readonly kind: 'stateAge'; readonly above: number }
  /** The block is an object. @source EIP-1898 */
  | { readonly kind: 'blockObject' }
  /** It takes versions of transactions up to a lower one. */
  | { readonly kind: 'versionBelow'; readonly version: number }

export type NodeAnswer =
  /** An error of JSON-RPC. `{from}` and `{last}` in the text are the ends of a range that is not refused. */
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
  /** Transactions are missing in lists, and their logs in receipts, for so long after the node first had them. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The chain as a node shows it that is so many blocks behind, the next one of these at each request. */
  | { readonly kind: 'behind'; readonly blocks: readonly number[] }
  /** The true answer behind so many bytes of white space. */
  | { readonly kind: 'long'; readonly bytes: number }
