import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import { closeServer, listenOnLoopback } from '../standIns/http/listen.ts'
import { familyKeys } from './familyPlans.ts'
import { namedFamilySchema, namedWalletSchema } from './familySettings.ts'
import type { Families } from './startFamilies.ts'

const amount = z
  .string()
  .regex(/^[1-9][0-9]{0,17}$/)
  .transform((text) => BigInt(text))

const depositSchema = z.object({ family: z.enum(familyKeys), amount })

type Answer = { readonly status: number; readonly body: unknown }

/**
 * HTTP server by which the network and operators control the stand-ins: `POST /open` opens one and answers where it
 * listens, `GET /families` describes the open ones, `POST /deposit` makes a deposit, `POST /wallet` an account, and
 * `POST /silence` stops a stand-in.
 * @param network until it resolves the server answers 503
 */
export async function startControl(
  port: number,
  network: Promise<Families>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  let families: Families | undefined
  network.then(
    (created) => {
      families = created
    },
    // The error is reported by the caller that started the network, which ends the process.
    () => undefined,
  )
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request, families).catch(answerError)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const url = await listenOnLoopback(server, port)
  return { url, stop: () => closeServer(server) }
}

async function answer(request: IncomingMessage, families: Families | undefined): Promise<Answer> {
  if (families === undefined) return { status: 503, body: { message: 'The network is not there yet.' } }
  const route = `${request.method} ${request.url}`
  switch (route) {
    case 'GET /families':
      return { status: 200, body: Object.fromEntries(families.facts) }
    case 'POST /open': {
      const { family } = namedFamilySchema.parse(await jsonOf(request))
      return { status: 200, body: await families.open(family) }
    }
    case 'POST /deposit': {
      const { family, amount: units } = depositSchema.parse(await jsonOf(request))
      return { status: 200, body: await families.deposit(family, units) }
    }
    case 'POST /wallet': {
      const { family, wallet } = namedWalletSchema.parse(await jsonOf(request))
      return { status: 200, body: { account: await families.placeWallet(family, wallet) } }
    }
    case 'POST /silence': {
      const { family } = namedFamilySchema.parse(await jsonOf(request))
      await families.silence(family)
      return { status: 200, body: { family } }
    }
    default:
      return { status: 404, body: { message: 'Not found.' } }
  }
}

function answerError(error: unknown): Answer {
  const isBadRequest = error instanceof z.ZodError || error instanceof SyntaxError
  return {
    status: isBadRequest ? 400 : 500,
    body: { message: error instanceof Error ? error.message : 'failed' },
  }
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
