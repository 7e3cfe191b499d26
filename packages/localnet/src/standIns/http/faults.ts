import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpBodies } from './bodies.ts'

/** Treatment of requests that reach a stand-in while the fault is set. */
export type HttpFault =
  | { readonly kind: 'none' }
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Accepts and never answers. */
  | { readonly kind: 'hang' }
  /** Reads the request, then cuts the connection. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'http'; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: 'redirect'; readonly location: string }
  /** An error page with status 200. */
  | { readonly kind: 'html' }
  /** The first half of the true answer. */
  | { readonly kind: 'half' }
  /** The true answer behind so many bytes of white space. */
  | { readonly kind: 'oversize'; readonly bytes: number }
  /** Error that a node answers with status 200. */
  | { readonly kind: 'nodeError' }
  /** The true body goes through `rewrite`, for all questions or for those that `isAbout` picks. */
  | {
      readonly kind: 'lie'
      readonly rewrite: (path: string, body: unknown) => unknown
      readonly isAbout?: (question: Question) => boolean
    }

/** Request of a client: its path, and its body as text. */
export type Question = { readonly path: string; readonly text: string }

/** Answers a request under a fault. @param truth makes the true body; not called by faults that need none */
export async function answerWith(
  fault: HttpFault,
  { request, text: asked }: { readonly request: IncomingMessage; readonly text: string },
  response: ServerResponse,
  truth: () => Promise<unknown>,
): Promise<void> {
  switch (fault.kind) {
    case 'hang':
      return
    case 'reset':
      request.socket.destroy()
      return
    case 'http':
      response.writeHead(fault.status, {
        ...(fault.retryAfter !== undefined && { 'retry-after': fault.retryAfter }),
      })
      response.end(JSON.stringify(httpBodies.refusal.body))
      return
    case 'redirect':
      response.writeHead(307, { location: fault.location }).end()
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end(httpBodies.errorPage.body)
      return
    case 'nodeError':
      response.end(JSON.stringify(httpBodies.nodeError.body))
      return
    case 'delay':
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs))
      break
    default:
      break
  }
  const question = { path: request.url ?? '', text: asked }
  const text = JSON.stringify(await bodyUnder(fault, question, truth))
  if (fault.kind === 'oversize') response.write(' '.repeat(fault.bytes))
  response.end(fault.kind === 'half' ? text.slice(0, Math.ceil(text.length / 2)) : text)
}

/** The true body, or the lie in its place. */
async function bodyUnder(
  fault: HttpFault,
  question: Question,
  truth: () => Promise<unknown>,
): Promise<unknown> {
  const body = await truth()
  const isLie = fault.kind === 'lie' && (fault.isAbout?.(question) ?? true)
  return isLie ? fault.rewrite(question.path, body) : body
}
