import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(gzip)

/** Below it the headers weigh more than what is saved. */
const bytesMin = 1_000
/** More different texts than a page has: what comes then is sent as it is, so that nothing grows with requests. */
const keptMax = 16

type Packer = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>

/**
 * Compresses answers that are the same for everybody, each once: whoever asks again costs no processor time. For what
 * holds no secret and repeats nothing that a caller sent. Only whole answers, and only for who says that he takes gzip.
 */
export function createPacker(): Packer {
  const kept = new Map<string | Buffer, Promise<Buffer>>()
  return async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    if (request.method !== 'GET' || reply.statusCode !== 200 || payload.length < bytesMin) return payload
    reply.header('vary', 'accept-encoding')
    if (!takesGzip(request.headers['accept-encoding'])) return payload
    const packed = kept.get(payload) ?? (kept.size < keptMax ? compress(payload, { level: best }) : undefined)
    if (packed === undefined) return payload
    kept.set(payload, packed)
    reply.header('content-encoding', 'gzip')
    return packed
  }
}

const best = constants.Z_BEST_COMPRESSION

/** @source RFC 9110 12.5.3 */
function takesGzip(accepted: string | readonly string[] | undefined): boolean {
  const codings = String(accepted ?? '')
    .toLowerCase()
    .split(',')
  return codings.some((coding) => {
    const [name, weight] = coding.split(';').map((part) => part.trim())
    return name === 'gzip' && !/^q=0(\.0*)?$/.test(weight ?? '')
  })
}
