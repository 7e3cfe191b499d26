import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer, listenOnLoopback } from '../http/listen.ts'
import { type ConstructedChain, merkleBlock, timeAt } from './constructedChain.ts'

/** `esplora` under `/api`, as public services have it; `node` at the root, as bitcoind has it. */
export type BitcoinApi = 'node' | 'esplora'

export type Answer = { status: number; text: string }

/** What a stand-in does to an answer before it leaves. `what`: the RPC method, or the Esplora path. */
export type Fault = (what: string, answer: Answer) => Answer | 'hang' | Promise<Answer | 'hang'>

export type BitcoinNode = {
  url(api: BitcoinApi): string
  /** The chain that it shows from now on. */
  show(chain: ConstructedChain): void
  fault(fault: Fault | undefined): void
  /** HTTP requests since the last reset. */
  requests(): number
  /** What was asked since the last reset, in order. */
  asked(): readonly string[]
  headers(): IncomingMessage['headers']
  reset(): void
  stop(): Promise<void>
}

class RpcRefusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * A stand-in for a bitcoind with a transaction index and for an Esplora service: HTTP on loopback over a
 * constructed chain. Refusals, nulls and status codes are those of Bitcoin Core 29 and of Esplora's
 * `API.md`; a single refused call is answered with HTTP 500, as nodes before version 28 do.
 * @param port default: a free one
 */
export async function startBitcoinNode(first: ConstructedChain, port = 0): Promise<BitcoinNode> {
  let chain = first
  let fault: Fault | undefined
  let requests = 0
  let asked: string[] = []
  let headers: IncomingMessage['headers'] = {}

  const server = createServer((request, response) => {
    requests += 1
    headers = request.headers
    answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const plain = path.startsWith('/api/')
      ? await faulty(path.slice('/api'.length), esplora(chain, path.slice('/api'.length)))
      : await rpc(JSON.parse(await bodyOf(request)))
    if (plain === 'hang') return
    response.writeHead(plain.status, { 'content-type': 'application/json' }).end(plain.text)
  }

  async function rpc(body: unknown): Promise<Answer | 'hang'> {
    const calls: readonly unknown[] = Array.isArray(body) ? body : [body]
    const members: string[] = []
    let status = 200
    for (const call of calls) {
      const { id, method, params } = Object(call)
      const own = await faulty(String(method), callNode(chain, id, String(method), params))
      if (own === 'hang') return own
      members.push(own.text)
      status = own.status
    }
    return Array.isArray(body)
      ? { status: 200, text: `[${members.join()}]` }
      : { status, text: members.join() }
  }

  async function faulty(what: string, own: Answer): Promise<Answer | 'hang'> {
    asked.push(what)
    return fault === undefined ? own : fault(what, own)
  }

  const origin = await listenOnLoopback(server, port)
  return {
    url: (api) => (api === 'node' ? origin : `${origin}/api`),
    show(next) {
      chain = next
    },
    fault(next) {
      fault = next
    },
    requests: () => requests,
    asked: () => asked,
    headers: () => headers,
    reset() {
      requests = 0
      asked = []
    },
    stop: () => closeServer(server),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

function callNode(chain: ConstructedChain, id: unknown, method: string, params: readonly unknown[]): Answer {
  try {
    const result = nodeResult(chain, method, params)
    return { status: 200, text: JSON.stringify({ result, error: null, id }) }
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    const { code, message } = error
    return { status: 500, text: JSON.stringify({ result: null, error: { code, message }, id }) }
  }
}

function nodeResult(chain: ConstructedChain, method: string, params: readonly unknown[]): unknown {
  const [first, second] = params
  switch (method) {
    case 'getblockcount':
      return chain.tipHeight
    case 'getblockhash': {
      const block = chain.blockAt(Number(first))
      if (block === undefined) throw new RpcRefusal(-8, 'Block height out of range')
      return block.hash
    }
    case 'getrawtransaction': {
      const found = chain.find(String(first))
      if (found === undefined) {
        const words = 'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.'
        throw new RpcRefusal(-5, words)
      }
      const { transaction, block } = found
      const height = block && chain.heightOf(block.hash)
      return {
        txid: transaction.getId(),
        hex: Buffer.from(transaction.toBuffer()).toString('hex'),
        ...(block !== undefined &&
          height !== undefined && {
            blockhash: block.hash,
            confirmations: chain.tipHeight - height + 1,
            blocktime: timeAt(height),
          }),
      }
    }
    case 'getblockheader': {
      const block = chain.blockOf(String(first))
      if (block === undefined) throw new RpcRefusal(-5, 'Block not found')
      if (second === false) return block.header.toString('hex')
      const height = chain.heightOf(block.hash)
      const confirmations = height === undefined ? -1 : chain.tipHeight - height + 1
      return { hash: block.hash, confirmations, height: height ?? 1, time: block.header.readUInt32LE(68) }
    }
    case 'gettxoutproof': {
      const block = chain.blockOf(String(second))
      const [txid] = Array.isArray(first) ? first : []
      if (block === undefined) throw new RpcRefusal(-5, 'Block not found')
      return merkleBlock(block, String(txid)).toString('hex')
    }
    case 'gettxout': {
      const found = chain.find(String(first))
      const output = found?.transaction.outs[Number(second)]
      if (found?.block === undefined || output === undefined) return null
      if (chain.spenderOf(String(first), Number(second)) !== undefined) return null
      return {
        bestblock: chain.blockAt(chain.tipHeight)?.hash,
        confirmations: 1,
        value: 0.5,
        coinbase: false,
      }
    }
    default:
      throw new RpcRefusal(-32_601, 'Method not found')
  }
}

const missing: Answer = { status: 404, text: 'Not found' }
const text = (value: string): Answer => ({ status: 200, text: value })

function esplora(chain: ConstructedChain, path: string): Answer {
  const parts = path.split('/').slice(1)
  const [kind, name = '', detail, place] = parts
  if (path === '/blocks/tip/height') return text(String(chain.tipHeight))
  if (kind === 'block-height') {
    const block = chain.blockAt(Number(name))
    return block === undefined ? missing : text(block.hash)
  }
  if (kind === 'block' && detail === 'header') {
    const block = chain.blockOf(name)
    return block === undefined ? missing : text(block.header.toString('hex'))
  }
  return kind === 'tx' ? esploraTransaction(chain, { txid: name, detail, vout: Number(place) }) : missing
}

function esploraTransaction(
  chain: ConstructedChain,
  { txid, detail, vout }: { txid: string; detail: string | undefined; vout: number },
): Answer {
  const found = chain.find(txid)
  if (found === undefined) return { status: 404, text: 'Transaction not found' }
  const { transaction, block } = found
  switch (detail) {
    case 'hex':
      return text(Buffer.from(transaction.toBuffer()).toString('hex'))
    case 'status':
      return text(JSON.stringify(statusOf(chain, block?.hash)))
    case 'merkleblock-proof':
      return block === undefined ? missing : text(merkleBlock(block, txid).toString('hex'))
    case 'outspend': {
      const spender = chain.spenderOf(txid, vout) ?? chain.isMempoolSpent(txid, vout)
      if (spender === undefined) return text(JSON.stringify({ spent: false }))
      const status = statusOf(chain, chain.find(spender.getId())?.block?.hash)
      return text(JSON.stringify({ spent: true, txid: spender.getId(), vin: 0, status }))
    }
    default:
      return missing
  }
}

function statusOf(chain: ConstructedChain, hash: string | undefined) {
  const height = hash === undefined ? undefined : chain.heightOf(hash)
  if (hash === undefined || height === undefined) return { confirmed: false }
  return { confirmed: true, block_height: height, block_hash: hash, block_time: timeAt(height) }
}
