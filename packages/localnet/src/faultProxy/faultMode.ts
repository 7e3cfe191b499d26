import type { NodePersonality } from './nodePersonality.ts'

/** One call of a request to the proxy. Outside JSON-RPC `method` is the body's `type`, or else the path. */
export type SeenCall = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }

/** Treatment of requests that reach the proxy while the mode is set. */
export type FaultMode =
  | { readonly kind: 'pass' }
  /** Answers like a hosted node. */
  | { readonly kind: 'hosted'; readonly personality: NodePersonality }
  | { readonly kind: 'latency'; readonly delayMs: number }
  /** Delays each request by a drawn time, then answers 503 where `drawError` returns true, else the truth. */
  | { readonly kind: 'distant'; readonly drawDelayMs: () => number; readonly drawError: () => boolean }
  /** Accepts and never answers. */
  | { readonly kind: 'hang' }
  /** Nothing listens; open connections are cut. */
  | { readonly kind: 'refuse' }
  /** Reads the request, then cuts the connection. */
  | { readonly kind: 'reset' }
  /** An error page with status 200. */
  | { readonly kind: 'html200' }
  /** The first half of the true answer, as a complete response. */
  | { readonly kind: 'halfJson' }
  | { readonly kind: 'http'; readonly status: number; readonly retryAfter?: string }
  /** Bytes that are not HTTP. */
  | { readonly kind: 'garbage' }
  /** The chain as it was at `block`: head and every `latest` mean that block. */
  | { readonly kind: 'staleHead'; readonly block: bigint }
  | { readonly kind: 'wrongId' }
  /** Members of a batch are answered last to first. */
  | { readonly kind: 'reversedBatch' }
  /** The last member of a batch is missing. */
  | { readonly kind: 'missingAnswer' }
  /** The last member of a batch repeats the first. */
  | { readonly kind: 'repeatedAnswer' }
  | { readonly kind: 'redirect'; readonly location: string }
  /** The true answer, one byte per interval. */
  | { readonly kind: 'slowDrip'; readonly intervalMs: number }
  /** A well-formed answer of at least this size. */
  | { readonly kind: 'oversize'; readonly bytes: number }
  /** A lie: the true result of each call goes through `rewrite`. */
  | { readonly kind: 'lie'; readonly rewrite: (call: SeenCall, result: unknown) => unknown }
  /** Every call is answered by this JSON-RPC error. */
  | { readonly kind: 'nodeError'; readonly code: number; readonly message: string }
  /** Calls of these methods reach no node and get this error, by default "method not found"; all others the truth. */
  | {
      readonly kind: 'unsupported'
      readonly methods: readonly string[]
      readonly code?: number
      readonly message?: string
    }
