import type { FaultMode, SeenCall } from './faultMode.ts'
import { hexQuantity, mapAnswers, pinLatest, rearrange, withoutMethods } from './rpcBody.ts'

/** The request that the proxy sends to the target in place of the client's `body`. */
export function faultyRequest(mode: FaultMode, body: string): string {
  if (mode.kind === 'unsupported') return withoutMethods(body, mode.methods)
  return mode.kind === 'staleHead' ? pinLatest(body, mode.block) : body
}

/** The response that the proxy sends to the client in place of the target's `answer`. */
export function faultyAnswer(mode: FaultMode, answer: string, calls: readonly SeenCall[]): string {
  switch (mode.kind) {
    case 'halfJson':
      return answer.slice(0, Math.ceil(answer.length / 2))
    case 'staleHead':
      return mapAnswers(answer, calls, (member, call) =>
        call?.method === 'eth_blockNumber' ? { ...member, result: hexQuantity(mode.block) } : member,
      )
    case 'wrongId':
      return mapAnswers(answer, calls, (member) => ({ ...member, id: Number(member['id']) + 1_000_000 }))
    case 'reversedBatch':
      return rearrange(answer, (members) => members.toReversed())
    case 'missingAnswer':
      return rearrange(answer, (members) => members.slice(0, -1))
    case 'repeatedAnswer':
      return rearrange(answer, (members) => [...members.slice(0, -1), members[0]])
    case 'lie':
      return mapAnswers(answer, calls, (member, call) =>
        call !== undefined && 'result' in member
          ? { ...member, result: mode.rewrite(call, member['result']) }
          : member,
      )
    case 'nodeError':
      return mapAnswers(answer, calls, ({ id }) => refusal(id, mode.code, mode.message))
    case 'unsupported':
      return mapAnswers(answer, calls, (member, call) =>
        call !== undefined && mode.methods.includes(call.method)
          ? refusal(member['id'], mode.code ?? -32_601, mode.message ?? 'the method is not available')
          : member,
      )
    default:
      return answer
  }
}

function refusal(id: unknown, code: number, message: string): Record<string, unknown> {
  return { jsonrpc: '2.0', id, error: { code, message } }
}
