import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { blockViewSchema, showBlock } from './blockAnswers.ts'
import type { SolanaNode } from './solanaNode.ts'

const request = z.object({
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
const commitment = z.enum(['processed', 'confirmed', 'finalized']).default('finalized')
const options = z.object({ commitment }).default({ commitment: 'finalized' })
const blockOptions = blockViewSchema.extend({ commitment })

/** A client's block subscription: how it sees blocks, and the first slot that it has not been sent. */
type BlockSubscription = { readonly view: z.infer<typeof blockOptions>; nextSlot: bigint }

/**
 * Serves Solana's subscriptions to signatures, slots and all blocks, on the port of the HTTP server. A signature is notified
 * once, when its transaction has reached the commitment. A block subscription stays at a block that it cannot
 * show and notifies its error again with each later block; skipped slots are not notified.
 * @source Solana documentation, "RPC websocket methods"; Agave, rpc_subscriptions.rs
 * @returns a function that ends all of them
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
  const signatures = new Map<number, { readonly signature: string; readonly awaitsFinal: boolean }>()
  const slots = new Set<number>()
  const blocks = new Map<number, BlockSubscription>()
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  let lastSentSlot = node.slot('processed')
  const sendSlot = () => {
    const slot = node.slot('processed')
    if (slot === lastSentSlot) return
    const result = { parent: Number(slot) - 1, root: Number(node.slot('finalized')), slot: Number(slot) }
    lastSentSlot = slot
    for (const subscription of slots) send({ method: 'slotNotification', params: { result, subscription } })
  }
  const sendNews = () => {
    sendSlot()
    sendBlocks(node, blocks, send)
    for (const [subscription, { signature, awaitsFinal }] of signatures) {
      const stored = node.transaction(signature)
      if (stored === undefined || (awaitsFinal && !node.isFinal(stored))) continue
      signatures.delete(subscription)
      const result = { context: { slot: Number(stored.slot) }, value: { err: stored.error } }
      send({ method: 'signatureNotification', params: { result, subscription } })
    }
  }
  const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    signatureSubscribe([signature, requestOptions]) {
      const { commitment: awaited } = options.parse(requestOptions ?? undefined)
      const id = nextId()
      signatures.set(id, { signature: z.string().parse(signature), awaitsFinal: awaited === 'finalized' })
      return id
    },
    slotSubscribe() {
      const id = nextId()
      slots.add(id)
      return id
    },
    blockSubscribe([filter, requestOptions]) {
      z.literal('all').parse(filter)
      const view = blockOptions.parse(requestOptions ?? {})
      const id = nextId()
      blocks.set(id, { view, nextSlot: node.slot(view.commitment) + 1n })
      return id
    },
    blockUnsubscribe: ([subscription]) => blocks.delete(z.number().parse(subscription)),
    slotUnsubscribe: ([subscription]) => slots.delete(z.number().parse(subscription)),
    signatureUnsubscribe: ([subscription]) => signatures.delete(z.number().parse(subscription)),
  }
  const end = node.watch(sendNews)
  socket.on('close', end)
  socket.on('message', (data) => {
    const message = request.safeParse(JSON.parse(data.toString()))
    if (!message.success) return send({ id: null, error: { code: -32_600, message: 'Invalid request' } })
    const { id, method, params } = message.data
    const run = methods[method]
    if (run === undefined) return send({ id, error: { code: -32_601, message: 'Method not found' } })
    send({ id, result: run(params) })
    // A new subscription may await a transaction that is there already.
    sendNews()
  })
}

/** Sends the new blocks of each subscription. */
function sendBlocks(
  node: SolanaNode,
  blocks: ReadonlyMap<number, BlockSubscription>,
  send: (message: object) => void,
): void {
  for (const [subscription, blockSubscription] of blocks) {
    const { view } = blockSubscription
    for (let slot = blockSubscription.nextSlot; slot <= node.slot(view.commitment); slot += 1n) {
      const shown = showBlock(node, slot, view)
      const err = 'unsupported' in shown ? { UnsupportedTransactionVersion: shown.unsupported } : null
      const block = 'block' in shown ? shown.block : null
      const value = { slot: Number(slot), block, err }
      const result = { context: { slot: Number(slot) }, value }
      if (err !== null || block !== null)
        send({ method: 'blockNotification', params: { result, subscription } })
      if (err !== null) break
      blockSubscription.nextSlot = slot + 1n
    }
  }
}
