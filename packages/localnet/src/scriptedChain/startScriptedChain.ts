import { createServer, type IncomingMessage } from 'node:http'
import { answerCall, type ScriptedAnswer } from './answerCall.ts'
import { type BlockTree, createBlockTree } from './blockTree.ts'

export type ScriptedChain = {
  readonly url: string
  readonly tree: BlockTree
  stop(): Promise<void>
}

/**
 * Starts an HTTP server on loopback that answers JSON-RPC from a scripted block tree, for tests. Several may serve one
 * tree, as the endpoints of one chain do.
 */
export async function startScriptedChain(options: {
  chainId: number
  tree?: BlockTree
}): Promise<ScriptedChain> {
  const { chainId, tree = createBlockTree() } = options
  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answerBody(tree, chainId, body)))
      })
      .catch(() => response.destroy())
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
      else reject(new Error('no port'))
    })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    tree,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] }

function answerBody(tree: BlockTree, chainId: number, body: string): unknown {
  // CAST: only the project's own clients ask a scripted chain, and they send calls or lists of calls.
  const payload = JSON.parse(body) as Call | readonly Call[]
  const answer = (call: Call): ScriptedAnswer & { jsonrpc: string; id: unknown } => ({
    jsonrpc: '2.0',
    id: call.id,
    ...answerCall(tree, chainId, call),
  })
  return isList(payload) ? payload.map(answer) : answer(payload)
}

function isList(payload: Call | readonly Call[]): payload is readonly Call[] {
  return Array.isArray(payload)
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}
