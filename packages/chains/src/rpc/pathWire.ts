import { EndpointFailure } from './endpointFailure.ts'
import type { HttpAnswer, HttpRequest } from './httpTransport.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'

/** What nodes answer with status 200 where they do not do what they are asked. */
const refusalCode = -32_000

/**
 * Asks a node whose interface is a list of paths: each call is a POST to the path that its method is, with its first
 * parameter as JSON. The first call is answered before the others leave, and those leave at once: so a head that is
 * asked for first is no newer than what is asked for with it.
 * @throws EndpointFailure
 */
export async function askPaths(
  calls: readonly RpcCall[],
  alias: string,
  fetch: (request: HttpRequest) => Promise<HttpAnswer>,
): Promise<readonly RpcAnswer[]> {
  const ask = async ({ method: path, params: [body = {}] }: RpcCall): Promise<RpcAnswer> =>
    readAnswer((await fetch({ method: 'POST', path, body })).text, alias)
  const [first, ...others] = calls
  if (first === undefined) return []
  const answered = await ask(first)
  return [answered, ...(await Promise.all(others.map(ask)))]
}

/** An exception of the node is its refusal, in the member `Error`. @throws EndpointFailure for what is no JSON */
function readAnswer(text: string, alias: string): RpcAnswer {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new EndpointFailure({ alias, reason: 'not_json' })
  }
  if (typeof body === 'object' && body !== null && 'Error' in body)
    return { ok: false, code: refusalCode, message: String(body.Error) }
  return { ok: true, result: body }
}
