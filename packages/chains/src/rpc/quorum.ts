import { canonicalJson } from './canonicalJson.ts'
import type { RpcAnswer } from './jsonRpc.ts'

/** ceil(2n/3) of the configured endpoints. @source design.md 7.4 */
export function defaultThreshold(configured: number): number {
  return Math.ceil((2 * configured) / 3)
}

export type Vote = {
  readonly alias: string
  /** `undefined`: no usable answer. Still counts in the number of configured endpoints. */
  readonly answers: readonly RpcAnswer[] | undefined
}

export type Verdict =
  | { readonly status: 'agreed'; readonly answers: readonly RpcAnswer[]; readonly aliases: readonly string[] }
  /** More votes can still decide. */
  | { readonly status: 'open' }
  /** Endpoints contradict each other, and no vote still missing can give any answer the threshold. */
  | { readonly status: 'disagreed'; readonly groups: number }
  /** No contradiction seen, but too few answered. */
  | { readonly status: 'silent' }

/**
 * Counts equal answers against a threshold of the configured endpoints: dead ones count against it, so
 * that losing endpoints never lowers the bar.
 * @param project what of the answers must be equal; default everything, see `comparable`
 * @source ledger-and-safety.md 4.3
 */
export function tally(
  votes: readonly Vote[],
  args: {
    readonly configured: number
    readonly threshold: number
    readonly project?: ((answers: readonly RpcAnswer[]) => unknown) | undefined
  },
): Verdict {
  const { configured, threshold, project = comparable } = args
  const groups = new Map<string, { answers: readonly RpcAnswer[]; aliases: string[] }>()
  for (const { alias, answers } of votes) {
    if (answers === undefined) continue
    const key = canonicalJson(project(answers))
    const group = groups.get(key) ?? { answers, aliases: [] }
    group.aliases.push(alias)
    groups.set(key, group)
  }
  const largest = [...groups.values()].reduce<
    { answers: readonly RpcAnswer[]; aliases: string[] } | undefined
  >(
    (best, group) => (best === undefined || group.aliases.length > best.aliases.length ? group : best),
    undefined,
  )
  const most = largest?.aliases.length ?? 0
  if (largest !== undefined && most >= threshold) return { status: 'agreed', ...largest }
  if (most + (configured - votes.length) >= threshold) return { status: 'open' }
  return groups.size > 1 ? { status: 'disagreed', groups: groups.size } : { status: 'silent' }
}

/** Nodes word their errors differently; code and data are what they must agree on. */
function comparable(answers: readonly RpcAnswer[]): unknown {
  return answers.map((answer) =>
    answer.ok ? { result: answer.result } : { error: answer.code, data: answer.data ?? null },
  )
}
