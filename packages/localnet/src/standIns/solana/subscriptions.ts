import type { Server } from 'node:http'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import type { SolanaNode } from './solanaNode.ts'

const request = z.object({
  id: z.union([z.number(), z.string()]),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})
const options = z
  .object({ commitment: z.enum(['processed', 'confirmed', 'finalized']).default('finalized') })
  .default({ commitment: 'finalized' })

/**
 * Solana's subscriptions to signatures and slots, on the port of the HTTP server. One to a signature says once that its
 * transaction has reached its commitment. @source Solana documentation, "RPC websocket methods"
 * @returns ends all of them
 */
export function serveSubscriptions(node: SolanaNode, server: Server): () => void {
  const sockets = new WebSocketServer({ server })
  let lastId = 0
  sockets.on('connection', (socket) => {
    const open = new Map<number, { readonly signature: string; readonly isFinal: boolean }>()
    const slots = new Set<number>()
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
        const { commitment } = options.parse(asked ?? undefined)
        lastId += 1
        open.set(lastId, { signature: z.string().parse(signature), isFinal: commitment === 'finalized' })
        return lastId
      },
      slotSubscribe() {
        lastId += 1
        slots.add(lastId)
        return lastId
      },
      slotUnsubscribe: ([subscription]) => slots.delete(z.number().parse(subscription)),
      signatureUnsubscribe: ([subscription]) => open.delete(z.number().parse(subscription)),
    }
    const end = node.watch(look)
    socket.on('close', end)
    socket.on('message', (data) => {
      const asked = request.safeParse(JSON.parse(data.toString()))
      if (!asked.success) return send({ id: null, error: { code: -32_600, message: 'Invalid request' } })
      const { id, method, params } = asked.data
      const run = methods[method]
      if (run === undefined) return send({ id, error: { code: -32_601, message: 'Method not found' } })
      send({ id, result: run(params) })
      look()
    })
  })
  return () => {
    for (const socket of sockets.clients) socket.terminate()
    sockets.close()
  }
}
