import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { outputScript } from '@causeway/families/rules'
import { Transaction } from 'bitcoinjs-lib'
import { closeServer, listenOnLoopback } from '../http/listen.ts'
import { bitcoinBodies } from './bodies.ts'
import { blockBytes, type ConstructedChain, merkleBlock } from './constructedChain.ts'

/** `esplora` under `/api`, as public services have it; `node` at the root, as bitcoind has it. */
export type BitcoinApi = 'node' | 'esplora'

/** An HTTP answer: its status and its body. */
export type Answer = { status: number; text: string }

/** Changes an answer before it is sent, or withholds it. `what` is the RPC method, or the Esplora path. */
export type Fault = (what: string, answer: Answer) => Answer | 'hang' | Promise<Answer | 'hang'>

export type BitcoinNode = {
  url(api: BitcoinApi): string
  /** Changes the chain that the node answers from. */
  show(chain: ConstructedChain): void
  fault(fault: Fault | undefined): void
  /** HTTP requests since the last reset. */
  requests(): number
  /** RPC methods and Esplora paths since the last reset, in order. */
  asked(): readonly string[]
  /** Headers of the last request. */
  headers(): IncomingMessage['headers']
  reset(): void
  stop(): Promise<void>
}

type Refusal = { readonly code: number; readonly message: string }

/** Thrown for a call that the node refuses. */
class RpcRefusal extends Error {
  readonly code: number
  constructor({ code, message }: Refusal) {
    super(message)
    this.code = code
  }
}
const refusals = bitcoinBodies.refusals.body

/**
 * A stand-in for a bitcoind with a transaction index and for an Esplora service: HTTP on loopback over a
 * constructed chain. A single refused call is answered with HTTP 500, as nodes before version 28 do.
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
    const [, path] = /^\/api(\/.*)$/s.exec(request.url ?? '') ?? []
    const body = path === undefined || request.method === 'POST' ? await bodyOf(request) : ''
    const sent = path === undefined ? await answerNode(body) : await answerEsplora(request, path, body)
    if (sent === 'hang') return
    response.writeHead(sent.status, { 'content-type': 'application/json' }).end(sent.text)
  }

  function answerNode(body: string): Promise<Answer | 'hang'> {
    return answerCalls(JSON.parse(body), (id, method, params) =>
      applyFault(method, callNode(chain, id, method, params)),
    )
  }

  function answerEsplora({ method }: IncomingMessage, path: string, body: string): Promise<Answer | 'hang'> {
    return applyFault(path, method === 'POST' ? postEsplora(chain, path, body) : getEsplora(chain, path))
  }

  async function applyFault(what: string, truth: Answer): Promise<Answer | 'hang'> {
    asked.push(what)
    return fault === undefined ? truth : fault(what, truth)
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

/** Answers a body of JSON-RPC, which is one call or a batch. */
async function answerCalls(
  body: unknown,
  answerTo: (id: unknown, method: string, params: readonly unknown[]) => Promise<Answer | 'hang'>,
): Promise<Answer | 'hang'> {
  const calls: readonly unknown[] = Array.isArray(body) ? body : [body]
  const members: string[] = []
  let status = 200
  for (const call of calls) {
    const { id, method, params } = Object(call)
    const answer = await answerTo(id, String(method), params)
    if (answer === 'hang') return answer
    members.push(answer.text)
    status = answer.status
  }
  return Array.isArray(body) ? { status: 200, text: `[${members.join()}]` } : { status, text: members.join() }
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
    return { status: 500, text: JSON.stringify(bitcoinBodies.refusedWith500.body(id, { code, message })) }
  }
}

function nodeResult(chain: ConstructedChain, method: string, params: readonly unknown[]): unknown {
  const [first, second, third] = params
  switch (method) {
    case 'getblockcount':
      return chain.tipHeight
    case 'getblockhash': {
      const block = chain.blockAt(Number(first))
      if (block === undefined) throw new RpcRefusal(refusals.heightOutOfRange)
      return block.hash
    }
    case 'getrawtransaction': {
      const found = chain.find(String(first))
      if (found === undefined) throw new RpcRefusal(refusals.noTransaction)
      return rawTransaction(chain, found)
    }
    case 'getblockheader': {
      const block = chain.blockOf(String(first))
      if (block === undefined) throw new RpcRefusal(refusals.noBlock)
      if (second === false) return block.header.toString('hex')
      // A block that a reorganisation dropped has no height in the chain: any is told, with -1 confirmations.
      const height = chain.heightOf(block.hash)
      const confirmations = height === undefined ? -1 : chain.tipHeight - height + 1
      // Byte 68 of a header begins its time.
      const timeSeconds = block.header.readUInt32LE(68)
      return bitcoinBodies.header.body({ hash: block.hash, height: height ?? 1, timeSeconds, confirmations })
    }
    case 'gettxoutproof': {
      const block = chain.blockOf(String(second))
      const [txid] = Array.isArray(first) ? first : []
      if (block === undefined) throw new RpcRefusal(refusals.noBlock)
      return merkleBlock(block, String(txid)).toString('hex')
    }
    case 'sendrawtransaction': {
      const transaction = Transaction.fromHex(String(first))
      const refusal = chain.offer(transaction)
      if (refusal !== undefined) throw new RpcRefusal(bitcoinBodies.refusedTransaction.body(refusal))
      return transaction.getId()
    }
    case 'scantxoutset': {
      const [descriptor] = Array.isArray(second) ? second : []
      const address = /^addr\((.*)\)$/.exec(String(descriptor))?.[1] ?? ''
      return bitcoinBodies.scan.body(chain.unspentOf(outputScript(address, bitcoinNetworkOf('regtest'))))
    }
    case 'gettxout':
      return unspentOutput(chain, { txid: String(first), vout: Number(second) }, third === true)
    case 'getblock': {
      const block = chain.blockOf(String(first))
      if (block === undefined) throw new RpcRefusal(refusals.noBlock)
      return blockBytes(block).toString('hex')
    }
    case 'getblockchaininfo':
      return bitcoinBodies.chainInfo.body(chain.tipHeight, chain.timeAt(chain.tipHeight))
    case 'estimatesmartfee':
      return bitcoinBodies.feeEstimate.body(chain.satPerKvb)
    case 'getmempoolinfo':
      return bitcoinBodies.mempoolInfo.body()
    default:
      throw new RpcRefusal(refusals.noMethod)
  }
}

type FoundTransaction = NonNullable<ReturnType<ConstructedChain['find']>>

function rawTransaction(chain: ConstructedChain, { transaction, block }: FoundTransaction): unknown {
  const described = describeBlock(chain, block?.hash)
  return bitcoinBodies.rawTransaction.body(
    transaction.getId(),
    Buffer.from(transaction.toBuffer()).toString('hex'),
    described && { ...described, confirmations: chain.tipHeight - described.height + 1 },
  )
}

/** Answer to `gettxout`; null for an output that is spent. @param withMempool waiting transactions count as spenders too */
function unspentOutput(
  chain: ConstructedChain,
  { txid, vout }: { readonly txid: string; readonly vout: number },
  withMempool: boolean,
): unknown {
  const transaction = chain.find(txid)
  const output = transaction?.transaction.outs[vout]
  const height = chain.heightOf(transaction?.block?.hash ?? '')
  if (transaction === undefined || height === undefined || output === undefined) return null
  if (chain.spenderOf(txid, vout) !== undefined) return null
  if (withMempool && chain.mempoolSpenderOf(txid, vout) !== undefined) return null
  return bitcoinBodies.unspent.body(chain.blockAt(chain.tipHeight)?.hash, {
    confirmations: chain.tipHeight - height + 1,
    coinbase: transaction.transaction.isCoinbase(),
  })
}

const notFound: Answer = { status: 404, text: bitcoinBodies.missing.body.any }
const ok = (text: string): Answer => ({ status: 200, text })

/** Esplora's one POST: it hands a transaction to its node. */
function postEsplora(chain: ConstructedChain, path: string, body: string): Answer {
  if (path !== '/tx') return notFound
  const transaction = Transaction.fromHex(body)
  const refusal = chain.offer(transaction)
  if (refusal === undefined) return ok(transaction.getId())
  return { status: 400, text: bitcoinBodies.refusedText.body(refusal) }
}

/** Answers a GET of Esplora. Its paths are `/<kind>/<name>/<detail>/<output number>`. */
function getEsplora(chain: ConstructedChain, path: string): Answer {
  const [kind, name = '', detail, vout] = path.split('/').slice(1)
  if (path === '/blocks/tip/height') return ok(String(chain.tipHeight))
  if (kind === 'block-height') {
    const block = chain.blockAt(Number(name))
    return block === undefined ? notFound : ok(block.hash)
  }
  if (kind === 'block' && detail === 'header') {
    const block = chain.blockOf(name)
    return block === undefined ? notFound : ok(block.header.toString('hex'))
  }
  if (kind === 'address' && detail === 'utxo') {
    const outputs = chain.unspentOf(outputScript(name, bitcoinNetworkOf('regtest')))
    const withBlocks = outputs.map((output) => ({
      ...output,
      block: describeBlock(chain, chain.find(output.txid)?.block?.hash),
    }))
    return ok(JSON.stringify(bitcoinBodies.addressOutputs.body(withBlocks)))
  }
  return kind === 'tx' ? esploraTransaction(chain, { txid: name, detail, vout: Number(vout) }) : notFound
}

function esploraTransaction(
  chain: ConstructedChain,
  { txid, detail, vout }: { txid: string; detail: string | undefined; vout: number },
): Answer {
  const found = chain.find(txid)
  if (found === undefined) return { status: 404, text: bitcoinBodies.missing.body.transaction }
  const { transaction, block } = found
  switch (detail) {
    case 'hex':
      return ok(Buffer.from(transaction.toBuffer()).toString('hex'))
    case 'status':
      return ok(JSON.stringify(bitcoinBodies.status.body(describeBlock(chain, block?.hash))))
    case 'merkleblock-proof':
      return block === undefined ? notFound : ok(merkleBlock(block, txid).toString('hex'))
    case 'outspend': {
      const spender = chain.spenderOf(txid, vout) ?? chain.mempoolSpenderOf(txid, vout)
      const spentBy = spender && {
        txid: spender.getId(),
        block: describeBlock(chain, chain.find(spender.getId())?.block?.hash),
      }
      return ok(JSON.stringify(bitcoinBodies.outspend.body(spentBy)))
    }
    default:
      return notFound
  }
}

/** Height, hash and time of a block; `undefined` where the chain does not have it. */
function describeBlock(chain: ConstructedChain, hash: string | undefined) {
  const height = hash === undefined ? undefined : chain.heightOf(hash)
  return hash === undefined || height === undefined
    ? undefined
    : { height, hash, timeSeconds: chain.timeAt(height) }
}
