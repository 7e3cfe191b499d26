import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { showBlock, shownBlock } from './blockAnswers.ts'
import type { SolanaNode } from './solanaNode.ts'

const request = z.object({
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
const commitment = z.enum(['processed', 'confirmed', 'finalized']).default('finalized')
const options = z.object({ commitment }).default({ commitment: 'finalized' })
const blockOptions = shownBlock.extend({ commitment })

type BlockSubscription = { readonly asked: z.infer<typeof blockOptions>; next: bigint }

/**
 * Solana's subscriptions to signatures, slots and all blocks, on the port of the HTTP server. One to a signature says once
 * that its transaction has reached its commitment. One to blocks does not go on from a block that it cannot show.
 * @source Solana documentation, "RPC websocket methods"; Agave, rpc_subscriptions.rs
 * @returns ends all of them
 */
export function serveSubscriptions(node: SolanaNode, server: Server): () => void {
  const sockets = new WebSocketServer({ server })
  let lastId = 0
  sockets.on('connection', (socket) => serveSocket(node, socket, () => ++lastId))
  return () => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
  }
}

function serveSocket(node: SolanaNode, socket: WebSocket, nextId: () => number): void {
  const open = new Map<number, { readonly signature: string; readonly isFinal: boolean }>()
  const slots = new Set<number>()
  const blocks = new Map<number, BlockSubscription>()
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  let toldSlot = node.slot('processed')
  const tellSlot = () => {
    const slot = node.slot('processed')
    if (slot === toldSlot) return
    const result = { parent: Number(slot) - 1, root: Number(node.slot('finalized')), slot: Number(slot) }
    toldSlot = slot
    for (const subscription of slots) send({ method: 'slotNotification', params: { result, subscription } })
  }
  const look = () => {
    tellSlot()
    tellBlocks(node, blocks, send)
    for (const [subscription, { signature, isFinal }] of open) {
      const stored = node.transaction(signature)
      if (stored === undefined || (isFinal && !node.isFinal(stored))) continue
      open.delete(subscription)
      const result = { context: { slot: Number(stored.slot) }, value: { err: stored.error } }
      send({ method: 'signatureNotification', params: { result, subscription } })
    }
  }
  const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    signatureSubscribe([signature, asked]) {
      const { commitment: reached } = options.parse(asked ?? undefined)
      const id = nextId()
      open.set(id, { signature: z.string().parse(signature), isFinal: reached === 'finalized' })
      return id
    },
    slotSubscribe() {
      const id = nextId()
      slots.add(id)
      return id
    },
    blockSubscribe([filter, shown]) {
      z.literal('all').parse(filter)
      const options = blockOptions.parse(shown ?? {})
      const id = nextId()
      blocks.set(id, { asked: options, next: node.slot(options.commitment) + 1n })
      return id
    },
    blockUnsubscribe: ([subscription]) => blocks.delete(z.number().parse(subscription)),
    slotUnsubscribe: ([subscription]) => slots.delete(z.number().parse(subscription)),
    signatureUnsubscribe: ([subscription]) => open.delete(z.number().parse(subscription)),
  }
  const end = node.watch(look)
  socket.on('close', end)
  socket.on('message', (data) => {
    const message = request.safeParse(JSON.parse(data.toString()))
    if (!message.success) return send({ id: null, error: { code: -32_600, message: 'Invalid request' } })
    const { id, method, params } = message.data
    const run = methods[method]
    if (run === undefined) return send({ id, error: { code: -32_601, message: 'Method not found' } })
    send({ id, result: run(params) })
    look()
  })
}

function tellBlocks(
  node: SolanaNode,
  blocks: ReadonlyMap<number, BlockSubscription>,
  send: (message: object) => void,
): void {
  for (const [subscription, blockSubscription] of blocks) {
    const { asked } = blockSubscription
    for (let slot = blockSubscription.next; slot <= node.slot(asked.commitment); slot += 1n) {
      const seen = showBlock(node, slot, asked)
      const err = 'unsupported' in seen ? { UnsupportedTransactionVersion: seen.unsupported } : null
      const block = 'block' in seen ? seen.block : null
      const value = { slot: Number(slot), block, err }
      const result = { context: { slot: Number(slot) }, value }
      if (err !== null || block !== null)
        send({ method: 'blockNotification', params: { result, subscription } })
      if (err !== null) break
      blockSubscription.next = slot + 1n
    }
  }
}
