/** One JSON-RPC call that viem has no name for. @throws Error naming the method when the node refuses it */
export async function askNode(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const body: unknown = await response.json()
  if (typeof body !== 'object' || body === null) throw new Error(`${method} failed`)
  if ('result' in body) return body.result
  const rpcError = 'error' in body ? Object(body.error) : {}
  throw new Error(`${method} failed: ${String(rpcError.message)}`)
}
