import type { SeenCall } from './faultMode.ts'

/** The calls of a request: those of a JSON-RPC body, else one that its `type` or its path names. */
export function readCalls(body: string, path: string): readonly SeenCall[] {
  const parsed = parseJson(body)
  const members: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed]
  if (isRpc(body)) {
    return members.filter(isObject).map(({ id, method, params }) => ({
      id,
      method: typeof method === 'string' ? method : '',
      params: Array.isArray(params) ? params : [],
    }))
  }
  const type = isObject(parsed) ? parsed['type'] : undefined
  return [{ id: undefined, method: typeof type === 'string' ? type : path, params: [] }]
}

/** A body of JSON-RPC: a call, or a list of calls. */
export function isRpc(body: string): boolean {
  const parsed = parseJson(body)
  const first = Array.isArray(parsed) ? parsed[0] : parsed
  return isObject(first) && typeof first['method'] === 'string'
}

/** Returns the body with every `latest` among the parameters replaced by `block`. */
export function pinLatest(body: string, block: bigint): string {
  return mapMembers(body, (member) => ({
    ...member,
    params: Array.isArray(member['params'])
      ? member['params'].map((param: unknown) => (param === 'latest' ? hexQuantity(block) : param))
      : member['params'],
  }))
}

/** Returns the body with calls of these methods renamed to a method that no node knows. */
export function withoutMethods(body: string, methods: readonly string[]): string {
  return mapMembers(body, (member) =>
    methods.some((method) => method === member['method']) ? { ...member, method: 'refused' } : member,
  )
}

/** Returns the answers, each passed through `change` together with the call that it answers. */
export function mapAnswers(
  body: string,
  calls: readonly SeenCall[],
  change: (answer: Record<string, unknown>, call: SeenCall | undefined) => Record<string, unknown>,
): string {
  return mapMembers(body, (answer) =>
    change(
      answer,
      calls.find(({ id }) => id === answer['id']),
    ),
  )
}

/** The members of a batch answer rearranged; a single answer stays as it is. */
export function rearrange(body: string, change: (members: readonly unknown[]) => readonly unknown[]): string {
  const parsed = parseJson(body)
  return Array.isArray(parsed) ? JSON.stringify(change(parsed)) : body
}

export function hexQuantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

function mapMembers(body: string, change: (member: Record<string, unknown>) => unknown): string {
  const parsed = parseJson(body)
  if (Array.isArray(parsed)) {
    return JSON.stringify(parsed.map((member) => (isObject(member) ? change(member) : member)))
  }
  return isObject(parsed) ? JSON.stringify(change(parsed)) : body
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
