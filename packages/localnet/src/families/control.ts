import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import { closeServer, listenOnLoopback } from '../standIns/http/listen.ts'
import { familyKeys } from './familyPlans.ts'
import { silencedSchema } from './familySettings.ts'
import type { Families } from './startFamilies.ts'

const amount = z
  .string()
  .regex(/^[1-9][0-9]{0,17}$/)
  .transform((text) => BigInt(text))

const commands = {
  '/deposit': z.object({ family: z.enum(familyKeys), amount }),
  '/silence': silencedSchema,
}

type Answer = { readonly status: number; readonly body: unknown }

/**
 * What the network and its operators ask of the stand-ins: `GET /ready` answers 503, and then 200 with all
 * facts; `POST /deposit` makes one, `POST /silence` silences a family.
 */
export async function startControl(
  port: number,
  opened: Promise<Families>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  let families: Families | undefined
  opened.then(
    (found) => {
      families = found
    },
    // Who started it ends the process.
    () => undefined,
  )
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request, families).catch(refusal)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const url = await listenOnLoopback(server, port)
  return { url, stop: () => closeServer(server) }
}

async function answer(request: IncomingMessage, families: Families | undefined): Promise<Answer> {
  if (families === undefined) return { status: 503, body: { message: 'The stand-ins are being opened.' } }
  const { method, url } = request
  if (method === 'GET' && url === '/ready') return { status: 200, body: families.facts }
  if (method === 'POST' && url === '/deposit') {
    const { family, amount: asked } = commands[url].parse(await jsonOf(request))
    return { status: 200, body: await families.deposit(family, asked) }
  }
  if (method === 'POST' && url === '/silence') {
    const { family } = commands[url].parse(await jsonOf(request))
    await families.silence(family)
    return { status: 200, body: { family } }
  }
  return { status: 404, body: { message: 'Not found.' } }
}

function refusal(error: unknown): Answer {
  const isBad = error instanceof z.ZodError || error instanceof SyntaxError
  return { status: isBad ? 400 : 500, body: { message: error instanceof Error ? error.message : 'failed' } }
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
