import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(gzip)

/** For shorter answers the added headers outweigh the saving. */
const bytesMin = 1_000
/** More than the number of files of the reference page. Further answers are sent uncompressed, which bounds memory. */
const cachedMax = 16

/** An `onSend` hook: resolves to the payload to send. */
type Packer = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>

/**
 * Makes the hook that sends static answers of the reference page with gzip. Each answer is compressed once and kept, so
 * that repeated requests cost no processor time; a buffer must be the same object each time. Only for answers
 * that are the same for everybody, hold no secret and repeat nothing that a caller sent (compression would
 * leak it).
 */
export function createPacker(): Packer {
  const compressed = new Map<string | Buffer, Promise<Buffer>>()
  return async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (request.method !== 'GET' || reply.statusCode !== 200 || payload.length < bytesMin) return payload
    reply.header('vary', 'accept-encoding')
    if (!takesGzip(request.headers['accept-encoding'])) return payload
    const hasRoom = compressed.size < cachedMax
    const packed = compressed.get(payload) ?? (hasRoom ? compress(payload, { level: best }) : undefined)
    if (packed === undefined) return payload
    compressed.set(payload, packed)
    reply.header('content-encoding', 'gzip')
    return packed
  }
}

const best = constants.Z_BEST_COMPRESSION

/** True if `accept-encoding` lists gzip with a weight above 0. @source RFC 9110 12.5.3 */
function takesGzip(accepted: string | readonly string[] | undefined): boolean {
  const codings = String(accepted ?? '')
    .toLowerCase()
    .split(',')
  return codings.some((coding) => {
    const [name, weight] = coding.split(';').map((part) => part.trim())
    return name === 'gzip' && !/^q=0(\.0*)?$/.test(weight ?? '')
  })
}
