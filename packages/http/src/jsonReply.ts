/** What `sendJson` needs of a reply; the reply of every route fits, whatever its schema. */
type JsonReply = { type(contentType: string): unknown; send(payload: never): unknown }

/**
 * Answers JSON that is text already, past the serializer of the route's schema: that walks an object
 * member by member, and what it joins is copied once more on its way out. Tests must hold the text
 * against the schema in its place.
 * @returns the reply, for the handler to return: it is answered, even where a hook delays the answer
 */
export function sendJson<Reply extends JsonReply>(reply: Reply, json: string): Reply {
  reply.type('application/json; charset=utf-8')
  // CAST: a route's own type asks for the object that this text stands for.
  reply.send(Buffer.from(json) as never)
  return reply
}
