//! The gRPC binding.

use futures::StreamExt;
use futures::stream::BoxStream;
use jarvis_proto::a2a::a2a_service_server::A2aService;
use jarvis_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};
use jarvis_proto::any::Empty;
use tonic::{Request, Response, Status};

use super::fault::{Fault, Wrong};
use super::rpc::sent;
use super::tasks::Client;
use super::{VERSION_HEADER, must_be_now};
use crate::state::Server;
use crate::users::Caller;

/// The service; who calls is found before.
pub(crate) struct Agent {
    pub(crate) server: Server,
}

type Told = BoxStream<'static, Result<StreamResponse, Status>>;

impl Agent {
    /// The client behind a call, and what it asks.
    fn client<T>(&self, request: Request<T>) -> Result<(Client, T), Fault> {
        let headers = request.metadata().clone().into_headers();
        must_be_now(headers.get(VERSION_HEADER), None)?;
        let caller = request.extensions().get::<Caller>().cloned();
        let caller = caller.ok_or_else(|| Fault::new(Wrong::Internal, "nobody looked who calls"))?;
        let own = || {
            let scheme = if self.server.options.tls.is_some() { "https" } else { "http" };
            self.server.listens.get().and_then(|at| at.http).map(|address| format!("{scheme}://{address}"))
        };
        let base = self.server.options.public_url.clone().or_else(own).unwrap_or_default();
        Ok((Client { server: self.server.clone(), caller, base }, request.into_inner()))
    }
}

#[tonic::async_trait]
impl A2aService for Agent {
    async fn send_message(
        &self,
        request: Request<SendMessageRequest>,
    ) -> Result<Response<SendMessageResponse>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(sent(client.send(request).await?)))
    }

    type SendStreamingMessageStream = Told;

    async fn send_streaming_message(&self, request: Request<SendMessageRequest>) -> Result<Response<Told>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.stream(request).await?.map(Ok).boxed()))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.get(request).await?))
    }

    async fn list_tasks(&self, request: Request<ListTasksRequest>) -> Result<Response<ListTasksResponse>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.list(request).await?))
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.cancel(request).await?))
    }

    type SubscribeToTaskStream = Told;

    async fn subscribe_to_task(&self, request: Request<SubscribeToTaskRequest>) -> Result<Response<Told>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.subscribe(request).await?.map(Ok).boxed()))
    }

    async fn create_task_push_notification_config(
        &self,
        request: Request<TaskPushNotificationConfig>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.create_webhook(request).await?))
    }

    async fn get_task_push_notification_config(
        &self,
        request: Request<GetTaskPushNotificationConfigRequest>,
    ) -> Result<Response<TaskPushNotificationConfig>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.webhook(request).await?))
    }

    async fn list_task_push_notification_configs(
        &self,
        request: Request<ListTaskPushNotificationConfigsRequest>,
    ) -> Result<Response<ListTaskPushNotificationConfigsResponse>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.list_webhooks(request).await?))
    }

    async fn get_extended_agent_card(
        &self,
        request: Request<GetExtendedAgentCardRequest>,
    ) -> Result<Response<AgentCard>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.extended_card(request)?))
    }

    async fn delete_task_push_notification_config(
        &self,
        request: Request<DeleteTaskPushNotificationConfigRequest>,
    ) -> Result<Response<Empty>, Status> {
        let (client, request) = self.client(request)?;
        Ok(Response::new(client.delete_webhook(request).await?))
    }
}
